// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "tape_write.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "tape_read.hpp"

namespace evictd::codec {

void ValueWriter::write_struct(Members members, const void* whole) {
    char separator = '{';
    for (const auto& member : members) {
        const void* value = member.in(whole);
        if (member.actions->is_empty(value)) continue;
        out_.push_back(std::exchange(separator, ','));
        key(member.name);
        member.actions->write(*this, value);
    }
    out_ += separator == '{' ? "{}" : "}";
}

void ValueWriter::write(bool value) { out_ += value ? "true" : "false"; }

void ValueWriter::write(float value) {
    std::array<char, 24> text{};
    text[0] = '"';
    char* end = std::to_chars(text.begin() + 1, text.end(), value).ptr;
    *end++ = '"';
    out_.append(text.data(), end);
}

void ValueWriter::write(const GarbageList& values) { list(values); }

void ValueWriter::write(const std::map<std::string, std::string>& values) {
    char separator = '{';
    for (const auto& [name, value] : values) {
        out_.push_back(std::exchange(separator, ','));
        key(name);
        write(value);
    }
    out_ += values.empty() ? "{}" : "}";
}

void ValueWriter::key(std::string_view name) {
    append_json_string(out_, name);
    out_.push_back(':');
}

}  // namespace evictd::codec
