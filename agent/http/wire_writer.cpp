// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/wire_writer.hpp"

namespace evictd::http {
namespace {

constexpr unsigned bits_of_a_type = 3;
constexpr std::uint64_t of_bytes = 2;

}  // namespace

void WireWriter::varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) message_ += static_cast<char>(value | 0x80U);
    message_ += static_cast<char>(value);
}

void WireWriter::number(std::uint32_t field, std::uint64_t value) {
    if (value == 0) return;
    varint(std::uint64_t{field} << bits_of_a_type);
    varint(value);
}

void WireWriter::bytes(std::uint32_t field, std::string_view value) {
    if (value.empty()) return;
    varint(std::uint64_t{field} << bits_of_a_type | of_bytes);
    varint(value.size());
    message_ += value;
}

}  // namespace evictd::http
