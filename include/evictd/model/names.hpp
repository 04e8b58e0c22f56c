// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The names of an enumeration: one constexpr table beside it, for writing, reading and listing. An enumerator that is
// added and has no name does not compile. Enumerators count from 0 without gaps.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace evictd {

template <std::size_t n>
using Words = std::array<std::string_view, n>;

// Specialized beside an enumeration: `static constexpr Words<n> words`, in the order of the enumerators.
template <class E>
struct Names;

// Whether some enumerator has this value: the compiler prints a name for it then, and a cast otherwise.
template <auto value>
consteval bool has_enumerator() {
    const std::string_view text = __PRETTY_FUNCTION__;
    constexpr std::string_view before = "value = ";
    return text[text.find(before) + before.size()] != '(';
}

// The enumeration has this many enumerators, no more and no fewer.
template <class E, std::size_t n>
consteval bool has_enumerators() {
    return has_enumerator<static_cast<E>(n - 1)>() && !has_enumerator<static_cast<E>(n)>();
}

template <class E>
concept Named = std::is_enum_v<E> && requires {
    Names<E>::words.size();
};

template <Named E>
constexpr const auto& names_of() {
    static_assert(has_enumerators<E, Names<E>::words.size()>(), "an enumerator of this type has no name");
    return Names<E>::words;
}

template <Named E>
constexpr std::string_view name(E value) {
    return names_of<E>()[static_cast<std::size_t>(value)];
}

template <Named E>
constexpr std::optional<E> from_name(std::string_view text) {
    const auto& names = names_of<E>();
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) {
            return static_cast<E>(i);
        }
    }
    return std::nullopt;
}

// "a, b, c": for messages that say what is accepted.
template <Named E>
std::string listed() {
    std::string text;
    for (const auto& word : names_of<E>()) {
        text.append(text.empty() ? "" : ", ").append(word);
    }
    return text;
}

}  // namespace evictd
