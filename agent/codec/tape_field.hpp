// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How the fields of a struct are named once, for whoever writes and reads them, and how one that was forgotten is
// noticed. Which structs there are is tape_fields.hpp's.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

namespace evictd::codec {

// A member (the pointer to it is in the type) and its name on the tape.
template <auto member>
struct Field {
    std::string_view name;
};
template <auto member>
constexpr Field<member> field(std::string_view name) {
    return {name};
}

// The members are in the type and not in a std::tuple: the compiler takes long to look something up in one of 26.
template <auto... members>
struct Fields {
    std::array<std::string_view, sizeof...(members)> names;
};
template <auto... members>
constexpr Fields<members...> described(Field<members>... fields) {
    return {{fields.name...}};
}

template <class T>
struct MemberPointer;
template <class T, class M>
struct MemberPointer<M T::*> {
    using Struct = T;
    using Value = M;
};
template <auto member>
using StructOf = typename MemberPointer<decltype(member)>::Struct;
template <auto member>
using ValueOf = typename MemberPointer<decltype(member)>::Value;

// Specialized in tape_fields.hpp: `fields`, in the order of the declaration.
template <class T>
struct Described;

// Whether these are all fields of T, and none of another struct: T can be made of them, and there is no place for one
// more.
template <class T, auto... members>
constexpr bool all_described(const Fields<members...>&) {
    return (std::is_same_v<StructOf<members>, T> && ...) && requires { T{std::declval<ValueOf<members>>()...}; }
    &&!requires { T{std::declval<ValueOf<members>>()..., {}}; };
}

template <class T>
constexpr const auto& fields_of() {
    static_assert(all_described<T>(Described<T>::fields), "a field of this struct is not described");
    return Described<T>::fields;
}

template <class T>
concept DescribedStruct = requires {
    Described<T>::fields;
};

// A struct of one field, such as Bytes, is written as that field.
template <class T>
concept SingleField = DescribedStruct<T> && Described<T>::fields.names.size() == 1;

template <auto member>
constexpr auto sole_member(const Fields<member>& /*fields*/) {
    return member;
}

}  // namespace evictd::codec
