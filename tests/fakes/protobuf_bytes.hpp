// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Messages to test with, put together field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evictd::proto {

inline std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
    return bytes + static_cast<char>(value);
}
inline std::string number(std::uint32_t field, std::int64_t value) {
    return varint(field << 3U) + varint(static_cast<std::uint64_t>(value));
}
inline std::string bytes(std::uint32_t field, std::string_view value) {
    return varint(field << 3U | 2U) + varint(value.size()) + std::string(value);
}
inline std::string entry(std::uint32_t field, std::string_view key, std::string_view value) {
    return bytes(field, bytes(1, key) + bytes(2, value));
}

// With gRPC's frame.
inline std::string framed(const std::string& message) {
    std::string prefix(1, '\0');
    for (unsigned shift = 32; shift > 0; shift -= 8) prefix += static_cast<char>(message.size() >> (shift - 8) & 0xffU);
    return prefix + message;
}

}  // namespace evictd::proto
