// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The path to a value is put together only when there is a fault, so that reading a big file costs no text.
#include "document/value.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "document/scalar.hpp"

namespace evictd::document {
namespace {

using Kind = Node::Kind;

constexpr std::string_view name_of(Kind kind) {
    return kind == Kind::list ? "a list" : kind == Kind::map ? "a map" : "nothing";
}

}  // namespace

std::string invalid_quantity(std::string_view text) { return "invalid quantity " + in_quotes(text); }

Reading::Reading(Document document, std::string file) : document_(std::move(document)), file_(std::move(file)) {}

Value Reading::root() { return {&document_.root, &document_.root, this}; }

// Children that several aliases share have the first of them as their parent. `seen`: those that may be shared.
void Reading::find_siblings(const Node& parent, std::set<const void*>& seen) {
    const auto& children = parent.each();
    if (children.empty() || (parent.children.use_count() > 1 && !seen.insert(&children).second)) return;
    siblings_.push_back({children.data(), &parent});
    for (const Node& child : children) find_siblings(child, seen);
}

// Siblings lie beside each other in memory: those of a node are the last that begin at or before it. A search from the
// root for each fault would take the square of the file's size.
std::string Reading::path_to(const Node* wanted) {
    constexpr std::less<> before;
    if (siblings_.empty()) {
        std::set<const void*> seen;
        find_siblings(document_.root, seen);
        std::sort(siblings_.begin(), siblings_.end(),
                  [&](const Siblings& a, const Siblings& b) { return before(a.first, b.first); });
    }
    std::vector<std::pair<const Node*, const Node*>> steps;  // each with its parent, the last first
    for (const Node* node = wanted; node != &document_.root; node = steps.back().second) {
        const auto next = std::upper_bound(siblings_.begin(), siblings_.end(), node,
                                           [&](const Node* at, const Siblings& row) { return before(at, row.first); });
        steps.emplace_back(node, std::prev(next)->parent);
    }
    std::reverse(steps.begin(), steps.end());
    std::string path;
    for (const auto& [node, parent] : steps) {
        if (parent->kind == Kind::list) {
            append_index(path, static_cast<std::size_t>(node - parent->each().data()));
        } else {
            append_name(path, node->key);
        }
    }
    return path;
}

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

std::vector<Value> Value::children(Kind kind, std::string_view wanted) const {
    std::vector<Value> all;
    if (!is_a(kind, wanted)) return all;
    all.reserve(node_->each().size());
    for (const Node& child : node_->each()) all.push_back({&child, &child, reading_});
    return all;
}

std::vector<Value> Value::fields() const { return children(Kind::map, "a map"); }

std::vector<Value> Value::elements() const { return children(Kind::list, "a list"); }

void Value::allow(std::span<const std::string_view> names, Belongs belongs) const {
    for (const Value& field : fields()) {
        if (std::find(names.begin(), names.end(), field.key()) != names.end()) continue;
        field.refuse_unknown("key", names, belongs != nullptr ? belongs(field.key()) : "");
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
    if (!present()) return std::nullopt;
    if (node_->children || node_->kind == Kind::boolean) {
        refuse_type("a quantity such as 500m, 64Mi or 2");
        return std::nullopt;
    }
    const auto number = node_->kind == Kind::integer ? whole_number(node_->text) : std::nullopt;
    const auto parsed = parse_quantity(number ? std::to_string(*number) : node_->text);
    if (parsed && parsed->sign() >= 0) return *parsed;
    refuse(parsed ? "must not be negative: " + excerpt(node_->text) : invalid_quantity(node_->text),
           parsed ? "0 or more" : std::string(quantity_expected));
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
    if (!time) refuse("invalid time " + in_quotes(*written), "expected RFC 3339, such as 2026-01-31T12:00:00Z");
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
    refuse("invalid value " + in_quotes(word), expected_words(known));
}

void Value::refuse_unknown(std::string_view what, std::span<const std::string_view> known, std::string belongs) const {
    // Of a file that is all wrong, the suggestions take longest.
    if (belongs.empty() && !reading_->is_full()) belongs = did_you_mean(key(), known);
    refuse("unknown " + std::string(what), std::move(belongs));
}

Fault Value::remark(std::string what, std::string remedy) const {
    std::string key = reading_->path_to(within_);
    if (!absent_.empty()) key += (key.empty() ? "" : ".") + absent_;
    return {reading_->file_, within_->line, within_->column, std::move(key), std::move(what), std::move(remedy)};
}

bool Value::is_refused_above() const {
    for (auto dot = absent_.find('.'); dot != std::string::npos; dot = absent_.find('.', dot + 1)) {
        if (reading_->refused_.contains({within_, absent_.substr(0, dot)})) return true;
    }
    return false;
}

// What follows from another fault is not reported: a second one at the same place, one below what is missing, and that
// a field is missing in what should be a map. Aliases share places.
void Value::refuse(std::string what, std::string remedy) const {
    ++reading_->refusals_;
    if (reading_->is_full()) return;
    const bool is_in_no_map = !absent_.empty() && within_->kind != Kind::map && within_->kind != Kind::null;
    if (is_in_no_map || is_refused_above() || !reading_->refused_.emplace(within_, absent_).second) return;
    reading_->document_.faults.push_back(remark(std::move(what), std::move(remedy)));
}

}  // namespace evictd::document
