// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How the fields of a struct are named once, for whoever writes and reads them, and how one that was forgotten is
// noticed. Which structs there are is tape_fields.hpp's.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace evictd::codec {

template <class T, class M>
struct Field {
    std::string_view name;
    M T::*member;
};
template <class T, class M>
constexpr Field<T, M> field(std::string_view name, M T::*member) {
    return {name, member};
}

// Specialized in tape_fields.hpp: `fields`, in the order of the declaration.
template <class T>
struct Described;

// Whether these are all fields of T: it can be made of them, and there is no place for one more.
template <class T, class... M>
constexpr bool all_described(const std::tuple<Field<T, M>...>&) {
    return requires { T{std::declval<M>()...}; }
    &&!requires { T{std::declval<M>()..., {}}; };
}

template <class T>
constexpr const auto& fields_of() {
    static_assert(all_described(Described<T>::fields), "a field of this struct is not described");
    return Described<T>::fields;
}

template <class T>
concept DescribedStruct = requires {
    Described<T>::fields;
};

// A struct of one field, such as Bytes, is written as that field.
template <class T>
concept SingleField = DescribedStruct<T> && std::tuple_size_v<std::remove_cvref_t<decltype(Described<T>::fields)>>
== 1;

}  // namespace evictd::codec
