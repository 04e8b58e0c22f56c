// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Typed access to one value of a document. A value of the wrong type is recorded as a fault, with line and key, and
// reading continues, so that all faults are reported at once. Knows types, not what a key means.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/node.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/units.hpp"

namespace evictd::document {

// Larger than any resource of a node (1 Ei), and small enough that several can be added without overflow.
inline constexpr std::int64_t most_of_anything = std::int64_t{1} << 60U;

class Value;

// A document being read: what its Values point into, and the faults they note.
class Reading {
public:
    Reading(Document document, std::string file);
    ~Reading() = default;
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    [[nodiscard]] Value root();
    // Each call of refuse(), whether or not its fault was kept.
    [[nodiscard]] std::size_t refusals() const { return refusals_; }
    // No more than `most` faults are kept.
    void limit_faults(std::size_t most) { most_ = most; }
    // Keeps at most `count` faults more; returns the limit before.
    std::size_t allow_faults(std::size_t count);
    [[nodiscard]] bool is_full() const { return document_.faults.size() >= most_; }
    // In the order of the text.
    [[nodiscard]] Faults take_faults();

private:
    friend class Value;
    struct Siblings {
        const Node* first;
        const Node* parent;
    };
    void find_siblings(const Node& parent, std::set<const void*>& seen);
    [[nodiscard]] std::string path_to(const Node* wanted);

    Document document_;
    std::string file_;
    std::vector<Siblings> siblings_;  // by `first`; made for the first fault
    std::size_t most_ = max_faults;
    std::size_t refusals_ = 0;
    std::set<std::pair<const Node*, std::string>> refused_;  // of the faults kept, as in Value
};

class Value {
public:
    // null is absent, as it is to the API server.
    [[nodiscard]] bool present() const { return node_ != nullptr && node_->kind != Node::Kind::null; }
    [[nodiscard]] bool is_map() const { return present() && node_->kind == Node::Kind::map; }
    [[nodiscard]] bool is_list() const { return present() && node_->kind == Node::Kind::list; }
    [[nodiscard]] bool is_ambiguous() const { return node_ != nullptr && node_->is_ambiguous; }  // as Node's
    [[nodiscard]] const std::string& key() const { return within_->key; }                        // of one of fields()
    [[nodiscard]] int line() const { return within_->line; }  // of the nearest that exists
    [[nodiscard]] Reading& reading() const { return *reading_; }

    // A field of this map; absent where this is, or has none of the name.
    [[nodiscard]] Value operator[](std::string_view name) const;
    [[nodiscard]] std::vector<Value> fields() const;    // of this map, null ones too
    [[nodiscard]] std::vector<Value> elements() const;  // of this list
    // Other fields than these are refused, with a suggestion. `belongs`: as in refuse_unknown(), for a key.
    using Belongs = std::string (*)(std::string_view key);
    void allow(std::span<const std::string_view> names, Belongs belongs = nullptr) const;
    void allow(std::initializer_list<std::string_view> names, Belongs belongs = nullptr) const {
        allow(std::span(names.begin(), names.size()), belongs);
    }

    // Nothing if absent; nothing and a fault if of another type.
    [[nodiscard]] std::optional<std::string> text() const;    // strictly text: no bare number, no bare true
    [[nodiscard]] std::optional<std::string> scalar() const;  // any single value as it was written; null is a fault
    [[nodiscard]] std::optional<bool> boolean() const;
    [[nodiscard]] std::optional<std::int64_t> integer(
        std::int64_t least = std::numeric_limits<std::int64_t>::min(),
        std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
    [[nodiscard]] std::optional<Quantity> quantity() const;  // not negative
    // A quantity's value, rounded up.
    [[nodiscard]] std::optional<std::int64_t> amount(std::int64_t most = most_of_anything) const;
    [[nodiscard]] std::optional<Duration> duration() const;             // Go's
    [[nodiscard]] std::optional<WallTime> time() const;                 // RFC 3339; Go's zero time is absent
    [[nodiscard]] std::optional<std::chrono::seconds> seconds() const;  // cut off at 68 years, to fit nanoseconds
    [[nodiscard]] std::map<std::string, std::string> texts() const;     // a map's
    // One of a range of pairs (word, meaning).
    template <class Words>
    [[nodiscard]] auto one_of(const Words& words) const -> std::optional<decltype(std::begin(words)->second)> {
        const auto word = present() ? scalar() : std::nullopt;
        if (!word) return std::nullopt;
        std::vector<std::string_view> known;
        for (const auto& [name, meaning] : words) {
            if (*word == name) return meaning;
            known.push_back(name);
        }
        refuse_word(*word, known);
        return std::nullopt;
    }

    void refuse(std::string what, std::string remedy) const;
    // As unknown, with what did_you_mean() suggests for its key. `belongs`: where else the key is known, instead of
    // that.
    void refuse_unknown(std::string_view what, std::span<const std::string_view> known, std::string belongs = {}) const;
    // Its place and these words, for what is accepted all the same.
    [[nodiscard]] Fault remark(std::string what, std::string remedy) const;

private:
    friend class Reading;
    Value(const Node* node, const Node* within, Reading* reading) : node_(node), within_(within), reading_(reading) {}
    [[nodiscard]] bool is_a(Node::Kind kind, std::string_view wanted) const;
    [[nodiscard]] bool is_refused_above() const;
    [[nodiscard]] std::vector<Value> children(Node::Kind kind, std::string_view wanted) const;
    void refuse_type(std::string_view wanted) const;
    void refuse_word(std::string_view word, std::span<const std::string_view> known) const;

    const Node* node_;    // nullptr: absent
    const Node* within_;  // itself, or the nearest above it that exists
    std::string absent_;  // its key below `within_`
    Reading* reading_;
};

// `invalid quantity "12Gg"`, and its remedy: upstream's words are a regular expression.
[[nodiscard]] std::string invalid_quantity(std::string_view text);
inline constexpr std::string_view quantity_expected = "expected a number with a suffix such as Ki, Mi, Gi";

// A remedy: "did you mean ABOVE.X?" where one of `known` differs from the name by no more than a slip; else
// `otherwise`; without that, all of a short list.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string_view> known,
                                       std::string otherwise = {}, std::string_view above = {});
// "expected red, green or grey"
[[nodiscard]] std::string expected_words(std::span<const std::string_view> known);

}  // namespace evictd::document
