// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Any value a tape may hold, at random, and whether two of them are the same in every field.
#pragma once

#include <array>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "codec/tape_read.hpp"

namespace evictd::codec {

class RandomValues {
public:
    explicit RandomValues(unsigned seed) : random_(seed) {}

    template <class T>
    T make() {
        T value{};
        fill(value);
        return value;
    }

    std::int64_t number(std::int64_t limit) {
        if (one_in(4)) return one_in(2) ? 0 : one_in(2) ? limit : -limit;
        return std::uniform_int_distribution<std::int64_t>(-limit, limit)(random_);
    }
    bool one_in(unsigned n) { return random_() % n == 0; }

    template <DescribedStruct T>
    void fill(T& value) {
        fill_members(value, fields_of<T>());
    }
    void fill(bool& value) { value = one_in(2); }
    void fill(std::int64_t& value) { value = number(most_used); }
    void fill(std::int32_t& value) { value = static_cast<std::int32_t>(number(INT32_MAX)); }
    void fill(std::uint32_t& value) { value = static_cast<std::uint32_t>(random_()); }
    void fill(GarbageList& value) { value = GarbageList(make<std::vector<Garbage>>()); }
    void fill(std::uint64_t& value) { value = one_in(3) ? ~0ULL : random_(); }
    void fill(float& value) { value = std::bit_cast<float>(static_cast<std::uint32_t>(random_() & 0xff7fffffU)); }
    template <class E>
    requires std::is_enum_v<E>
    void fill(E& value) { value = static_cast<E>(random_() % names_of<E>().size()); }
    void fill(std::string& value) {
        static constexpr std::array pieces{"web", "\"", "\\", "\n", "\x01", "é", ",\"decision\":", "/", "{", "\x7f"};
        value.clear();
        for (auto count = random_() % 4; count > 0; --count) value += pieces[random_() % pieces.size()];
    }
    void fill(Quantity& value) {
        const auto high = static_cast<Int128>(number(INT64_MAX));
        value = Quantity(one_in(2) ? high * INT64_MAX : high, static_cast<Quantity::Format>(random_() % 3));
        if (one_in(4)) value.spell("1.250k");
    }
    void fill(ComputedOnce& /*value*/) {}  // made of the other fields
    void fill(PodPtr& value) { value = std::make_shared<const Pod>(make<Pod>()); }
    void fill(RuntimePtr& value) { value = std::make_shared<const Runtime>(make<Runtime>()); }
    void fill(Duration& value) { value = Duration(number(longest_time)); }
    void fill(std::chrono::seconds& value) { value = std::chrono::seconds(number(INT64_MAX)); }
    void fill(MonotonicTime& value) { value = MonotonicTime(make<Duration>()); }
    void fill(WallTime& value) { value = WallTime(make<Duration>()); }
    template <class T>
    void fill(std::optional<T>& value) {
        if (one_in(2)) fill(value.emplace());
    }
    template <class... T>
    void fill(std::variant<T...>& value) {
        const std::array<std::variant<T...>, sizeof...(T)> all{std::variant<T...>(make<T>())...};
        value = all[random_() % all.size()];
    }
    template <class T>
    void fill(std::vector<T>& values) {
        values.resize(random_() % 3);
        for (auto& value : values) fill(value);
    }
    template <class T, std::size_t n>
    void fill(std::array<T, n>& values) {
        for (auto& value : values) fill(value);
    }
    void fill(std::map<std::string, std::string>& values) {
        for (auto count = random_() % 3; count > 0; --count) values[make<std::string>()] = make<std::string>();
    }

private:
    template <class T, auto... members>
    void fill_members(T& value, const Fields<members...>& /*all*/) {
        (fill(value.*members), ...);
    }

    std::mt19937_64 random_;
};

template <class T>
bool same(const T& a, const T& b);

template <class T>
bool same_list(const T& a, const T& b) {
    if (a.size() != b.size()) return false;
    for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
        if (!same(*i, *j)) return false;
    }
    return true;
}

template <class T, auto... members>
bool same_members(const T& a, const T& b, const Fields<members...>& /*all*/) {
    return (same(a.*members, b.*members) && ...);
}

template <class T>
bool same(const T& a, const T& b) {
    if constexpr (DescribedStruct<T>) {
        return same_members(a, b, fields_of<T>());
    } else if constexpr (std::same_as<T, ComputedOnce>) {
        return true;
    } else if constexpr (std::same_as<T, PodPtr> || std::same_as<T, RuntimePtr>) {
        return a && b ? same(*a, *b) : a == b;
    } else if constexpr (std::same_as<T, Quantity>) {
        return a.nano() == b.nano() && a.format() == b.format() && a.spelling() == b.spelling();
    } else if constexpr (std::same_as<T, float>) {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    } else if constexpr (requires { std::variant_size<T>::value; }) {
        return a.index() == b.index() &&
               std::visit(
                   [&](const auto& held) { return same(held, std::get<std::remove_cvref_t<decltype(held)>>(b)); }, a);
    } else if constexpr (requires { a.has_value(); }) {
        return a && b ? same(*a, *b) : a.has_value() == b.has_value();
    } else if constexpr (requires { a.begin(); } && !std::same_as<T, std::string> &&
                         !std::same_as<T, std::map<std::string, std::string>>) {
        return same_list(a, b);
    } else {
        return a == b;
    }
}

}  // namespace evictd::codec
