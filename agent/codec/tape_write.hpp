// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any described value as compact JSON. Exact: whole numbers as they are, floats as the shortest text that gives the
// same bits, quantities in nano units. What is empty or zero is left out of its struct. For the tape alone.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tape_fields.hpp"
#include "tape_members.hpp"
#include "tape_names.hpp"

namespace evictd::codec {

template <class T>
concept Number = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept TimeSpan = std::same_as<T, Duration> || std::same_as<T, std::chrono::seconds>;
template <class T>
concept EmptyWhenZero = std::is_arithmetic_v<T> || std::is_enum_v<T> || TimeSpan<T> || std::same_as<T, MonotonicTime> ||
    std::same_as<T, WallTime>;

// "104857600000000000b": nano units and the first letter of the format; then how it was written, where that is kept.
[[nodiscard]] std::string tape_text(const Quantity& quantity);
void append_json_string(std::string& out, std::string_view text);

// Independent of a struct's default values: a default that changes one day does not change old tapes.
template <class T>
bool is_empty(const T& value) {
    if constexpr (DescribedStruct<T>) {
        return is_empty_struct(members_of<T>(), &value);
    } else if constexpr (std::same_as<T, ComputedOnce>) {
        return true;  // made of the other fields
    } else if constexpr (EmptyWhenZero<T>) {
        return value == T{};
    } else if constexpr (requires { value.has_value(); }) {
        return !value.has_value();
    } else if constexpr (std::same_as<T, PodPtr> || std::same_as<T, RuntimePtr>) {
        return value == nullptr;
    } else if constexpr (requires { value.empty(); }) {
        return value.empty();
    } else {
        return false;  // a variant, an array or a quantity: always written
    }
}

class ValueWriter {
public:
    using NumberOf = std::function<std::uint32_t(const PodPtr&)>;
    using NumberOfRuntime = std::function<std::uint32_t(const RuntimePtr&)>;
    // Appends to `out`. A pod and an inventory are written as the numbers that these give them.
    ValueWriter(std::string& out, const NumberOf& number_of, NumberOfRuntime number_of_runtime = {})
        : out_(out), number_of_(number_of), number_of_runtime_(std::move(number_of_runtime)) {}

    template <SingleField T>
    void write(const T& value) {
        write(value.*sole_member(fields_of<T>()));
    }
    template <DescribedStruct T>
    void write(const T& value) {
        write_struct(members_of<T>(), &value);
    }
    void write(bool value);
    void write(Number auto value) {
        std::array<char, 24> text{};
        out_.append(text.data(), std::to_chars(text.begin(), text.end(), value).ptr);
    }
    void write(float value);
    template <class E>
    requires std::is_enum_v<E>
    void write(E value) { append_json_string(out_, name(value)); }
    void write(const std::string& value) { append_json_string(out_, value); }
    void write(const Quantity& value) { append_json_string(out_, tape_text(value)); }
    void write(const ComputedOnce& /*never*/) {}
    void write(const PodPtr& value) { write(number_of_(value)); }
    void write(const RuntimePtr& value) { write(number_of_runtime_(value)); }
    void write(TimeSpan auto value) { write(value.count()); }
    void write(MonotonicTime value) { write(value.time_since_epoch().count()); }
    void write(WallTime value) { write(value.time_since_epoch().count()); }
    template <class T>
    void write(const std::optional<T>& value) {
        if (value)
            write(*value);
        else
            out_ += "null";
    }
    template <class... T>
    void write(const std::variant<T...>& value) {
        out_.push_back('{');
        key(words_of<std::variant<T...>>()[value.index()]);
        std::visit([this](const auto& held) { this->write(held); }, value);
        out_.push_back('}');
    }
    void write(const GarbageList& values);
    template <class T>
    void write(const std::vector<T>& values) {
        list(values);
    }
    template <class T, std::size_t n>
    void write(const std::array<T, n>& values) {
        list(values);
    }
    void write(const std::map<std::string, std::string>& values);

private:
    void write_struct(Members members, const void* whole);
    void key(std::string_view name);
    void list(const auto& values) {
        char separator = '[';
        for (const auto& value : values) {
            out_.push_back(std::exchange(separator, ','));
            write(value);
        }
        out_ += separator == '[' ? "[]" : "]";
    }

    std::string& out_;
    const NumberOf& number_of_;
    NumberOfRuntime number_of_runtime_;
};

}  // namespace evictd::codec
