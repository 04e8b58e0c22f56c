// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/intent.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace evictd::reconcile {
namespace {

constexpr std::string_view intents_head = "evictd intents 2\n";
constexpr std::size_t field_count = 13;

// Fields are separated by tabs and lines by line breaks, so those and the escape character itself are escaped.
std::string escaped_field(std::string_view text) {
    std::string all;
    for (const char c : text) {
        switch (c) {
            case '\\':
                all += "\\\\";
                break;
            case '\t':
                all += "\\t";
                break;
            case '\n':
                all += "\\n";
                break;
            default:
                all += c;
        }
    }
    return all;
}

std::string unescaped_field(std::string_view text) {
    std::string all;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            all += text[i];
            continue;
        }
        const char next = text[++i];
        all += next == 't' ? '\t' : next == 'n' ? '\n' : next;
    }
    return all;
}

std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields;
    while (true) {
        const auto tab = line.find('\t');
        fields.push_back(unescaped_field(line.substr(0, tab)));
        if (tab == std::string_view::npos) {
            return fields;
        }
        line.remove_prefix(tab + 1);
    }
}

template <class Number>
bool read_number(const std::string& text, Number& into) {
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, into);
    return read.ec == std::errc() && read.ptr == end;
}

// "0123456789abcdef <fields>": the checksum is of the fields.
std::optional<Intent> intent_of(std::string_view line, const std::string& boot) {
    constexpr std::size_t digits = 16;
    if (line.size() <= digits || line[digits] != ' ') {
        return std::nullopt;
    }
    const auto rest = line.substr(digits + 1);
    if (line.substr(0, digits) != fmt::format("{:016x}", checksum(rest))) {
        return std::nullopt;
    }
    const auto fields = fields_of(rest);
    Intent intent;
    std::int64_t wall = 0;
    std::int64_t decided = 0;
    std::int64_t detected = 0;
    int flags = 0;
    auto& status = intent.status;
    const bool is_whole = fields.size() == field_count && read_number(fields[0], wall) &&
                          read_number(fields[1], status.attempt) && read_number(fields[2], status.generation) &&
                          read_number(fields[3], flags) && read_number(fields[4], decided) &&
                          read_number(fields[5], detected) && !fields[7].empty();
    if (!is_whole) {
        return std::nullopt;
    }
    intent.noted_at = WallTime(Duration(wall));
    status.disruption_target = (flags & 1) != 0;
    status.given_up = (flags & 2) != 0;
    intent.answered = (flags & 4) != 0;
    status.decided_at = MonotonicTime(Duration(decided));
    status.detected_at = MonotonicTime(Duration(detected));
    intent.boot = fields[6] == boot ? "" : fields[6];
    status.pod.value = fields[7];
    status.name_space = fields[8];
    status.name = fields[9];
    status.reason = fields[10];
    status.message = fields[11];
    return intent;
}

bool is_newer(const Intent& one, const Intent& other) {
    if (one.boot != other.boot) {
        return one.boot.empty() || (!other.boot.empty() && one.noted_at > other.noted_at);
    }
    return std::pair(one.status.decided_at, one.status.attempt) >
           std::pair(other.status.decided_at, other.status.attempt);
}

}  // namespace

bool is_resumable(const Intent& intent, MonotonicTime now) {
    // One that is answered is cleared when the watch is over, which may be long after an outage.
    return intent.boot.empty() && (!intent.answered || now - intent.status.decided_at <= longest_intent);
}

bool is_worth_noting(const DesiredPodStatus& status) { return status.end == PodEnd::failed && !status.can_wait; }

std::uint64_t checksum(std::string_view bytes) {
    constexpr std::uint64_t offset = 0xcbf29ce484222325U;
    std::uint64_t sum = offset;
    for (const char byte : bytes) {
        sum = (sum ^ static_cast<unsigned char>(byte)) * checksum_prime;
    }
    return sum;
}

std::string intents_text(const std::vector<Intent>& intents, const std::string& boot) {
    std::string text(intents_head);
    for (const auto& [status, noted_at, noted_in, answered] : intents) {
        const int flags = (status.disruption_target ? 1 : 0) + (status.given_up ? 2 : 0) + (answered ? 4 : 0);
        const auto fields =
            fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t", noted_at.time_since_epoch().count(),
                        status.attempt, status.generation, flags, status.decided_at.time_since_epoch().count(),
                        status.detected_at.time_since_epoch().count(), noted_in.empty() ? boot : noted_in,
                        escaped_field(status.pod.value), escaped_field(status.name_space), escaped_field(status.name),
                        escaped_field(status.reason), escaped_field(status.message));
        text += fmt::format("{:016x} {}\n", checksum(fields), fields);
    }
    return text;
}

IntentLedger intents_from(std::string_view text, const std::string& boot) {
    IntentLedger ledger;
    if (!text.starts_with(intents_head)) {
        ledger.fault = "invalid header";
        return ledger;
    }
    text.remove_prefix(intents_head.size());
    for (int number = 2; !text.empty(); number++) {
        const auto end = text.find('\n');
        auto intent = end == std::string_view::npos ? std::nullopt : intent_of(text.substr(0, end), boot);
        if (intent) {
            ledger.intents.push_back(std::move(*intent));
        } else if (ledger.fault.empty()) {
            ledger.fault = "invalid line " + std::to_string(number);
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return ledger;
}

std::vector<Intent> newest_of_each(std::vector<Intent> intents) {
    std::map<PodUid, Intent> newest;
    for (auto& intent : intents) {
        const auto [known, is_new] = newest.try_emplace(intent.status.pod, intent);
        if (!is_new && is_newer(intent, known->second)) {
            known->second = std::move(intent);
        }
    }
    std::vector<Intent> all;
    all.reserve(newest.size());
    for (auto& [uid, intent] : newest) {
        all.push_back(std::move(intent));
    }
    return all;
}

}  // namespace evictd::reconcile
