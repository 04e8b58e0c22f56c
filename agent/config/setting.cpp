// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Values of a configuration read as types. As lenient as the kubelet's reader about what cannot be misread (a bare
// number is good text), and strict about the rest.
#include "config/setting.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "evictd/model/quantity.hpp"

namespace evictd::config {
namespace {

std::string_view name_of(Node::Kind kind) {
    constexpr std::array<std::string_view, 4> names{"nothing", "a single value", "a list", "a map"};
    return names.at(static_cast<std::size_t>(kind));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

}  // namespace

Setting::Setting(Faults& faults, std::string file, NodePtr root)
    : faults_(&faults), file_(std::move(file)), node_(std::move(root)) {}

Setting::Setting(const Setting& parent, std::string name, std::string key, int line, int column, NodePtr node)
    : faults_(parent.faults_),
      file_(parent.file_),
      name_(std::move(name)),
      key_(std::move(key)),
      line_(line),
      column_(column),
      node_(std::move(node)) {}

void Setting::refuse(std::string what, std::string remedy) const {
    if (faults_->size() >= max_faults) return;
    faults_->push_back({file_, line_, column_, key_, std::move(what), std::move(remedy)});
}

std::string Setting::remark(std::string what, std::string remedy) const {
    return Fault{file_, line_, column_, key_, std::move(what), std::move(remedy)}.text();
}

void Setting::refuse_type(std::string_view wanted) const {
    const std::string expected = "expected " + std::string{wanted};
    if (node_->kind == Node::Kind::scalar) {
        refuse("invalid value \"" + excerpt(node_->scalar) + '"', expected);
    } else {
        refuse("found " + std::string{name_of(node_->kind)}, expected);
    }
}

std::optional<std::string> Setting::text() const {
    if (node_->kind == Node::Kind::scalar) return node_->scalar;
    refuse_type("text");
    return std::nullopt;
}

std::optional<bool> Setting::boolean() const {
    // YAML 1.1, which the kubelet reads, has these.
    constexpr std::array<std::string_view, 3> yes{"true", "yes", "on"};
    constexpr std::array<std::string_view, 3> no{"false", "no", "off"};
    if (node_->kind == Node::Kind::scalar && node_->plain) {
        std::string word = node_->scalar;
        std::transform(word.begin(), word.end(), word.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (std::find(yes.begin(), yes.end(), word) != yes.end()) return true;
        if (std::find(no.begin(), no.end(), word) != no.end()) return false;
    }
    refuse_type("true or false");
    return std::nullopt;
}

std::optional<std::int64_t> Setting::integer(std::int64_t least, std::int64_t most) const {
    if (node_->kind == Node::Kind::scalar && node_->plain) {
        const std::string_view digits = node_->scalar;
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        const bool whole = error == std::errc{} && end == digits.data() + digits.size();
        if (whole && number >= least && number <= most) return number;
    }
    refuse_type("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
}

std::optional<Duration> Setting::duration() const {
    const std::optional<std::string> value = text();
    if (!value) return std::nullopt;
    const Result<Duration> parsed = parse_duration(*value);
    if (parsed) return *parsed;
    refuse(excerpt(parsed.error().why, 400), "a duration is numbers with units, such as 90s, 5m or 1h30m");
    return std::nullopt;
}

std::vector<Setting> Setting::items() const {
    if (node_->kind != Node::Kind::list && !absent()) refuse_type("a list");
    std::vector<Setting> out;
    for (const NodePtr& item : node_->items) {
        const std::string index = "[" + std::to_string(out.size()) + "]";
        out.push_back(Setting(*this, index, key_ + index, item->line, item->column, item));
    }
    return out;
}

std::vector<Setting> Setting::children() const {
    if (node_->kind != Node::Kind::map && !absent()) refuse_type("a map");
    std::vector<Setting> out;
    for (const Entry& entry : node_->entries) {
        const std::string key = (key_.empty() ? "" : key_ + ".") + excerpt(entry.key);
        out.push_back(Setting(*this, entry.key, key, entry.line, entry.column, entry.value));
    }
    return out;
}

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
    // Our longest key has 32 letters: what comes after twice as many only costs time.
    const std::string_view start = name.substr(0, 64);
    std::string_view best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(start, candidate);
        if (distance >= least) continue;
        best = candidate;
        least = distance;
    }
    return best;
}

}  // namespace evictd::config
