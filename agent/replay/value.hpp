// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A value of a scenario that knows where it stands: read as what it should be, or the first fault is kept and reading
// goes on. The path is put together only for a fault, so that reading a big file costs no text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::replay {

// More than a node has of anything (1 Ei), and little enough that a handful of them can be added up.
inline constexpr std::int64_t most_of_anything = std::int64_t{1} << 60U;

class Value {
public:
    // `fault` gets the first fault: its `what` is the path. All of it must outlive this and what is made from it; so
    // must a value those made from it.
    Value(const nlohmann::json& root, std::optional<Error>& fault) : json_(&root), fault_(&fault) {}

    // JSON's null is absent.
    [[nodiscard]] bool present() const { return json_ != nullptr && !json_->is_null(); }
    [[nodiscard]] const nlohmann::json& json() const { return *json_; }
    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] std::string path() const;
    [[nodiscard]] std::string shown() const;  // what it is, in a fault's words

    // A field of this map; absent where this is.
    [[nodiscard]] Value at(std::string_view name) const;
    // Keys other than these are refused, and the nearest is named.
    void allow(std::span<const std::string_view> names) const;
    void allow(std::initializer_list<std::string_view> names) const { allow(std::span(names.begin(), names.size())); }

    // fields: of this map, null ones too. elements: of this list.
    template <class Take>
    void each_field(const Take& take) const {
        if (!is_a(nlohmann::json::value_t::object, "a map")) return;
        for (auto field = json_->begin(); field != json_->end(); ++field) take(Value(&*field, this, field.key()));
    }
    template <class Take>
    void each_element(const Take& take) const {
        if (!is_a(nlohmann::json::value_t::array, "a list")) return;
        for (std::size_t i = 0; i < json_->size(); ++i) take(Value(&(*json_)[i], this, i));
    }

    // Nothing if absent or at fault.
    [[nodiscard]] std::optional<std::string_view> text() const;
    [[nodiscard]] std::optional<bool> boolean() const;
    [[nodiscard]] std::optional<std::int64_t> whole(std::int64_t least, std::int64_t most) const;
    // A Kubernetes quantity or a number, from 0 to `most`.
    [[nodiscard]] std::optional<std::int64_t> amount(std::int64_t most = most_of_anything) const;
    // A Go duration, or the number 0.
    [[nodiscard]] std::optional<Duration> duration() const;

    void refuse(std::string why, std::string remedy) const;
    void refuse_within(const Error& error) const;  // of a reader of its own, whose `what` is the path from here
    [[nodiscard]] bool has_fault() const { return fault_->has_value(); }
    void refuse_unknown(std::string_view what, std::span<const std::string_view> known) const;

private:
    Value(const nlohmann::json* json, const Value* parent, std::string_view key)
        : json_(json), parent_(parent), key_(key), fault_(parent->fault_) {}
    Value(const nlohmann::json* json, const Value* parent, std::size_t index)
        : json_(json), parent_(parent), index_(index), fault_(parent->fault_) {}
    [[nodiscard]] bool is_a(nlohmann::json::value_t type, const char* wanted) const;

    const nlohmann::json* json_;
    const Value* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
    std::optional<Error>* fault_;
};

}  // namespace evictd::replay
