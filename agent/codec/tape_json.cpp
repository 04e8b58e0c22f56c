// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "tape_json.hpp"

#include <algorithm>
#include <utility>

#include "decision_json.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "tape_read.hpp"
#include "tape_write.hpp"

namespace evictd::codec {
namespace {

using TapeLine = ValueReader::Json;

constexpr std::string_view format_letters = "dbe";  // decimal_si, binary_si, decimal_exponent
constexpr std::string_view desired_key = R"(,"desired":)";
constexpr std::string_view next_look_key = R"(,"next_look":)";
constexpr std::string_view decision_key = R"(,"decision":)";

tl::unexpected<Error> refuse_tape(std::string why) { return fail(ErrorKind::invalid, "tape", std::move(why)); }

Result<TapeHeader> header_from(const TapeLine& json) {
    std::int64_t version = 0;
    TapeHeader header;
    std::string time;
    std::string started;
    ValueReader reader({});
    const bool good = reader.read_at(json, "evictd_tape", version) && reader.read_at(json, "version", header.version) &&
                      reader.read_at(json, "node", header.node) && reader.read_at(json, "time", time) &&
                      reader.read_at(json, "started", started);
    if (!good) return refuse_tape(reader.fault());
    if (version != 1) return refuse_tape("a tape of another version: this evictd reads version 1");
    const auto time_read = parse_rfc3339(time);
    const auto started_read = parse_rfc3339(started);
    if (!time_read || !started_read) return refuse_tape("its header lacks a time");
    header.time = *time_read;
    header.started = *started_read;
    return header;
}

// Pods that are new at this look, by their number.
bool read_pods(const TapeLine& line, ValueReader& reader, std::map<std::uint32_t, PodPtr>& pods) {
    const auto list = line.find("pods");
    if (list == line.end()) return true;
    for (const auto& pair : *list) {
        std::uint32_t number = 0;
        Pod pod;
        if (!pair.is_array() || pair.size() != 2 || !reader.read(pair[0], number, "number") ||
            !reader.read(pair[1], pod, "pod"))
            return false;
        pods[number] = make_pod(std::move(pod));
    }
    return true;
}

// The runtime's inventory, where it is a new one.
bool read_runtime(const TapeLine& line, ValueReader& reader, std::uint32_t& number, RuntimePtr& runtime) {
    const auto pair = line.find("runtime");
    if (pair == line.end()) return true;
    auto fresh = std::make_shared<Runtime>();
    if (!pair->is_array() || pair->size() != 2 || !reader.read((*pair)[0], number, "number") ||
        !reader.read((*pair)[1], *fresh, "runtime"))
        return false;
    runtime = std::move(fresh);
    return true;
}

}  // namespace

std::string tape_text(const Quantity& quantity) {
    static_assert(sizeof(Quantity) == 48, "what was added to Quantity belongs on the tape");
    const bool negative = quantity.nano() < 0;
    auto left = negative ? -static_cast<UInt128>(quantity.nano()) : static_cast<UInt128>(quantity.nano());
    std::string text(1, format_letters[static_cast<std::size_t>(quantity.format())]);
    do {
        text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
        left /= 10;
    } while (left != 0);
    if (negative) text.insert(text.begin(), '-');
    return text.append(quantity.spelling());
}

std::optional<Quantity> quantity_from_tape(std::string_view text) {
    constexpr std::string_view spelled_with = "+-.0123456789EKMGTPekmuni";
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const auto end = text.find_first_of(format_letters);
    if (end == 0 || end == std::string_view::npos) return std::nullopt;
    const auto spelling = text.substr(end + 1);
    if (spelling.find_first_not_of(spelled_with) != std::string_view::npos) return std::nullopt;
    Int128 nano = 0;
    for (const char c : text.substr(0, end)) {
        const int digit = negative ? '0' - c : c - '0';
        if (c < '0' || c > '9' || __builtin_mul_overflow(nano, 10, &nano) || __builtin_add_overflow(nano, digit, &nano))
            return std::nullopt;
    }
    Quantity quantity(nano, static_cast<Quantity::Format>(format_letters.find(text[end])));
    quantity.spell(spelling);
    return quantity;
}

void append_json_string(std::string& out, std::string_view text) {
    const auto plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), plain)) {
        out.push_back('"');
        out.append(text).push_back('"');
    } else {
        out += dump_line(text);
    }
}

std::string TapeWriter::header(WallTime time) {
    known_.clear();
    last_number_ = 0;
    runtime_ = nullptr;
    runtime_number_ = 0;
    nlohmann::ordered_json json;
    json["evictd_tape"] = 1;
    json["version"] = version_;
    json["node"] = node_;
    json["time"] = rfc3339(time);
    json["started"] = rfc3339(started_);
    return dump_line(json);
}

// Appends the pod to `fresh` if it was not at the last look.
std::uint32_t TapeWriter::number_of(const PodPtr& pod, std::string& fresh) {
    auto& known = known_[pod.get()];
    known.seen = true;
    if (known.pod == nullptr) {
        known.pod = pod;
        known.number = ++last_number_;
        const ValueWriter::NumberOf no_pods;
        fresh += (fresh.empty() ? "[" : ",[") + std::to_string(known.number) + ",";
        ValueWriter(fresh, no_pods).write(*pod);
        fresh.push_back(']');
    }
    return known.number;
}

// Writes it to `fresh` if it is not the last one.
std::uint32_t TapeWriter::number_of_runtime(const RuntimePtr& runtime, std::string& fresh) {
    if (runtime == runtime_) return runtime_number_;
    runtime_ = runtime;
    fresh = "[" + std::to_string(++runtime_number_) + ",";
    const ValueWriter::NumberOf no_pods;
    ValueWriter(fresh, no_pods).write(*runtime);
    fresh.push_back(']');
    return runtime_number_;
}

std::string TapeWriter::look(const Tick& tick, bool whole) {
    std::string fresh;
    std::string fresh_runtime;
    std::string observation;
    for (auto& [address, known] : known_) known.seen = false;
    const ValueWriter::NumberOf number = [&](const PodPtr& pod) { return number_of(pod, fresh); };
    const auto runtime_number = [&](const RuntimePtr& runtime) { return number_of_runtime(runtime, fresh_runtime); };
    ValueWriter(observation, number, runtime_number).write(tick.observation);
    std::erase_if(known_, [](const auto& entry) { return !entry.second.seen; });

    std::string line = R"({"look":)" + std::to_string(tick.number);
    if (!fresh.empty()) line += R"(,"pods":[)" + fresh + "]";
    if (!fresh_runtime.empty()) line += R"(,"runtime":)" + fresh_runtime;
    if (whole) {
        ValueWriter rest(line, number);
        line += R"(,"config":)";
        rest.write(*tick.config);
        line += R"(,"before":)";
        rest.write(*tick.before);
    }
    line += R"(,"observation":)" + observation;
    line += std::string(desired_key) + desired_line(tick.decision, tick.observation);
    line += std::string(next_look_key) + next_look_line(tick.decision, tick.observation);
    return line + std::string(decision_key) + decision_line(tick.decision, tick.observation) + "}";
}

Result<TapeReader::Line> TapeReader::read(std::string_view line) {
    const auto json = TapeLine::parse(line, nullptr, false);
    if (!json.is_object()) return refuse_tape("not a JSON object");
    if (json.contains("evictd_tape")) {
        pods_.clear();
        runtime_ = nullptr;
        return header_from(json);
    }
    // The last: annotations of a pod may have any key.
    const auto decision = line.rfind(decision_key);
    if (decision == std::string_view::npos || !line.ends_with('}') || !json.contains("observation"))
        return refuse_tape("neither a header nor a look");
    TapeLook look;
    look.decision = line.substr(decision + decision_key.size());
    look.decision.pop_back();
    auto end = decision;
    const auto text_before_end = [&](std::string_view key) {
        const auto begin = line.rfind(key, end);
        if (begin == std::string_view::npos) return line;  // not as the writer writes it: equal to nothing
        const auto text = line.substr(begin + key.size(), end - begin - key.size());
        end = begin;
        return text;
    };
    if (json.contains("next_look")) look.next_look = text_before_end(next_look_key);
    if (json.contains("desired")) look.desired = text_before_end(desired_key);
    std::map<std::uint32_t, PodPtr> seen;
    ValueReader reader(
        [&](std::uint32_t number) {
            const auto found = pods_.find(number);
            return found == pods_.end() ? PodPtr{} : seen.insert(*found).first->second;
        },
        [this](std::uint32_t number) { return number == runtime_number_ ? runtime_ : RuntimePtr{}; });
    const bool good = read_pods(json, reader, pods_) && read_runtime(json, reader, runtime_number_, runtime_) &&
                      reader.read_at(json, "look", look.number) && reader.read_at(json, "config", look.config) &&
                      reader.read_at(json, "before", look.before) &&
                      reader.read_at(json, "observation", look.observation);
    if (!good) return refuse_tape(reader.fault());
    pods_ = std::move(seen);
    return look;
}

std::string state_line(const State& state) {
    std::string line;
    const ValueWriter::NumberOf no_pods;
    ValueWriter(line, no_pods).write(state);
    return line;
}

}  // namespace evictd::codec
