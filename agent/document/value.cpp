// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The path to a value is looked for only when there is a fault, so that reading a big file costs no text.
#include "document/value.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

#include "document/scalar.hpp"

namespace evictd::document {
namespace {

using Kind = Node::Kind;

using Seen = std::set<const void*>;  // what several aliases share, looked through once

// From `at` down to `wanted`, in reverse. False: it is not below.
bool find_path(const Node& at, const Node* wanted, Seen& seen, std::vector<std::pair<const Node*, std::size_t>>& path) {
    if (&at == wanted) return true;
    if (at.children.use_count() > 1 && !seen.insert(at.children.get()).second) return false;
    const auto& children = at.each();
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (!find_path(children[i], wanted, seen, path)) continue;
        path.emplace_back(&at, i);
        return true;
    }
    return false;
}

std::string path_to(const Node* wanted, const Node& root) {
    Seen seen;
    std::vector<std::pair<const Node*, std::size_t>> steps;
    (void)find_path(root, wanted, seen, steps);
    std::reverse(steps.begin(), steps.end());
    std::string path;
    for (const auto& [parent, index] : steps) {
        if (parent->kind == Kind::list) {
            append_index(path, index);
        } else {
            append_name(path, parent->each()[index].key);
        }
    }
    return path;
}

constexpr std::string_view name_of(Kind kind) {
    return kind == Kind::list ? "a list" : kind == Kind::map ? "a map" : "nothing";
}

}  // namespace

Reading::Reading(Document document, std::string file) : document_(std::move(document)), file_(std::move(file)) {}

Value Reading::root() { return {&document_.root, &document_.root, this}; }

Faults Reading::take_faults() {
    const auto place = [](const Fault& fault) { return std::tie(fault.line, fault.column); };
    std::stable_sort(document_.faults.begin(), document_.faults.end(),
                     [&](const Fault& a, const Fault& b) { return place(a) < place(b); });
    return std::move(document_.faults);
}

std::size_t Reading::allow_faults(std::size_t count) {
    return std::exchange(most_, std::min(most_, document_.faults.size() + count));
}

Value Value::operator[](std::string_view name) const {
    Value field(nullptr, within_, reading_);
    if (is_a(Kind::map, "a map")) {
        field.node_ = node_->find(name);
        if (field.node_ != nullptr) field.within_ = field.node_;
    }
    if (field.node_ != nullptr) return field;
    field.absent_ = absent_;
    append_name(field.absent_, name);
    return field;
}

std::vector<Value> Value::fields() const {
    std::vector<Value> all;
    if (!is_a(Kind::map, "a map")) return all;
    all.reserve(node_->each().size());
    for (const Node& field : node_->each()) all.push_back({&field, &field, reading_});
    return all;
}

std::vector<Value> Value::elements() const {
    std::vector<Value> all;
    if (!is_a(Kind::list, "a list")) return all;
    all.reserve(node_->each().size());
    for (const Node& element : node_->each()) all.push_back({&element, &element, reading_});
    return all;
}

void Value::allow(std::span<const std::string_view> names) const {
    for (const Value& field : fields()) {
        if (std::find(names.begin(), names.end(), field.key()) == names.end()) field.refuse_unknown("key", names);
    }
}

bool Value::is_a(Kind kind, std::string_view wanted) const {
    if (!present()) return false;
    if (node_->kind == kind) return true;
    refuse_type(wanted);
    return false;
}

std::optional<std::string> Value::scalar() const {
    if (node_ == nullptr) return std::nullopt;
    if (!node_->children && present()) return node_->text;
    refuse_type("text");
    return std::nullopt;
}

std::optional<std::string> Value::text() const {
    if (!is_a(Kind::text, "text: put it in quotes")) return std::nullopt;
    return node_->text;
}

std::optional<bool> Value::boolean() const {
    if (!is_a(Kind::boolean, "true or false")) return std::nullopt;
    return is_true(node_->text);
}

std::optional<std::int64_t> Value::integer(std::int64_t least, std::int64_t most) const {
    if (!present()) return std::nullopt;
    const auto number = node_->kind == Kind::integer ? whole_number(node_->text) : std::nullopt;
    if (number && *number >= least && *number <= most) return number;
    const bool is_bounded = least > std::numeric_limits<std::int64_t>::min();
    refuse_type(is_bounded ? "a whole number from " + std::to_string(least) + " to " + std::to_string(most)
                           : "a whole number");
    return std::nullopt;
}

std::optional<Quantity> Value::quantity() const {
    constexpr auto such_as = "a quantity such as 500m, 64Mi or 2";
    if (!present()) return std::nullopt;
    if (node_->children || node_->kind == Kind::boolean) {
        refuse_type(such_as);
        return std::nullopt;
    }
    const auto number = node_->kind == Kind::integer ? whole_number(node_->text) : std::nullopt;
    const auto parsed = parse_quantity(number ? std::to_string(*number) : node_->text);
    if (parsed && parsed->sign() >= 0) return *parsed;
    const std::string shown = excerpt(node_->text);
    refuse(parsed ? "must not be negative: " + shown : excerpt(parsed.error().why, 400) + ": " + shown, such_as);
    return std::nullopt;
}

std::optional<std::int64_t> Value::amount(std::int64_t most) const {
    const auto exact = quantity();
    if (!exact || exact->value() <= most) return exact ? std::optional(exact->value()) : std::nullopt;
    refuse("is more than any node has: " + excerpt(node_->text), "a quantity such as 64Mi, 1.5Gi or 2000");
    return std::nullopt;
}

std::optional<Duration> Value::duration() const {
    const auto written = present() ? scalar() : std::nullopt;
    if (!written) return std::nullopt;
    const Result<Duration> parsed = parse_duration(*written);
    if (parsed) return *parsed;
    refuse(excerpt(parsed.error().why, 400), "a duration is numbers with units, such as 90s, 5m or 1h30m");
    return std::nullopt;
}

std::optional<WallTime> Value::time() const {
    const auto written = text();
    // metav1.Time's zero value, as its String and older clients write it.
    if (!written || *written == "0001-01-01T00:00:00Z") return std::nullopt;
    const auto time = parse_rfc3339(*written);
    if (!time) refuse("is no time: " + in_quotes(*written), "write it as 2026-01-31T12:00:00Z");
    return time;
}

std::optional<std::chrono::seconds> Value::seconds() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto number = integer();
    if (!number) return std::nullopt;
    return std::chrono::seconds(std::clamp(*number, -most, most));
}

std::map<std::string, std::string> Value::texts() const {
    std::map<std::string, std::string> all;
    for (const Value& field : fields()) {
        if (auto text = field.text()) all.emplace(field.key(), std::move(*text));
    }
    return all;
}

void Value::refuse_type(std::string_view wanted) const {
    const std::string expected = "expected " + std::string(wanted);
    if (node_->children || !present()) {
        refuse("found " + std::string(name_of(node_->kind)), expected);
    } else {
        refuse("invalid value " + in_quotes(node_->text), expected);
    }
}

void Value::refuse_word(std::string_view word, std::span<const std::string_view> known) const {
    std::string expected = "expected ";
    for (std::size_t i = 0; i < known.size(); ++i) {
        expected += (i == 0 ? "" : i + 1 == known.size() ? " or " : ", ") + std::string(known[i]);
    }
    refuse("invalid value " + in_quotes(word), std::move(expected));
}

void Value::refuse_unknown(std::string_view what, std::span<const std::string_view> known) const {
    // Of a file that is all wrong, the nearest names take longest.
    const std::string_view meant = reading_->is_full() ? std::string_view{} : nearest(key(), known);
    refuse("unknown " + std::string(what), "did you mean " + excerpt(meant) + "?");
}

Fault Value::remark(std::string what, std::string remedy) const {
    std::string key = path_to(within_, reading_->document_.root);
    if (!absent_.empty()) key += (key.empty() ? "" : ".") + absent_;
    return {reading_->file_, within_->line, within_->column, std::move(key), std::move(what), std::move(remedy)};
}

// What follows from another fault is not reported: a second one at the same place, and that a field is missing in what
// should be a map. Aliases share places: however often one is used, the way to it is looked for once.
void Value::refuse(std::string what, std::string remedy) const {
    ++reading_->refusals_;
    auto& refused = reading_->refused_;
    const std::pair place{within_, absent_};
    const bool is_in_no_map = !absent_.empty() && within_->kind != Kind::map && within_->kind != Kind::null;
    const bool is_known = is_in_no_map || std::find(refused.begin(), refused.end(), place) != refused.end();
    if (is_known || reading_->is_full()) return;
    reading_->document_.faults.push_back(remark(std::move(what), std::move(remedy)));
    refused.push_back(place);
}

}  // namespace evictd::document
