// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The fields of a described struct as a table. One loop writes or reads any struct with it: code for each field of each
// struct would be a tenth of the program and of the time to compile it. For the tape alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "tape_field.hpp"

namespace evictd::codec {

class ValueWriter;
class ValueReader;

// What can be done with a value of a type. The pointers are to a value of that type.
struct TypeActions {
    bool (*is_empty)(const void* value);
    void (*make_empty)(void* value);
    void (*write)(ValueWriter& writer, const void* value);
    bool (*read)(ValueReader& reader, const nlohmann::json& json, void* value);
};

struct Member {
    std::string_view name;
    const void* (*in)(const void* whole);  // the member of a struct at `whole`
    const TypeActions* actions;

    [[nodiscard]] void* in_mutable(void* whole) const { return const_cast<void*>(in(whole)); }
};
using Members = std::span<const Member>;

bool is_empty_struct(Members members, const void* whole);
void make_empty_struct(Members members, void* whole);

template <class T>
struct ActionsOf;  // in tape_read.hpp: include it to write or read a described struct

template <auto member>
const void* member_in(const void* whole) {
    return &(static_cast<const StructOf<member>*>(whole)->*member);
}

template <auto... members>
constexpr auto member_table(const Fields<members...>& fields) {
    std::size_t next = 0;  // between braces, and only there, the order of evaluation is that of the list
    return std::array{Member{fields.names[next++], member_in<members>, &ActionsOf<ValueOf<members>>::all}...};
}

template <class T>
inline constexpr auto member_table_of = member_table(fields_of<T>());

template <class T>
Members members_of() {
    return member_table_of<T>;
}

}  // namespace evictd::codec
