// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Protocol Buffers' wire format, written field by field: for requests of a few fields. What is zero or empty is left
// out, as proto3 has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace evictd::http {

class WireWriter {
public:
    void number(std::uint32_t field, std::uint64_t value);
    void bytes(std::uint32_t field, std::string_view value);  // text, or a message's take()
    // The message. Nothing is left of it here.
    [[nodiscard]] std::string take() { return std::exchange(message_, {}); }

private:
    void varint(std::uint64_t value);
    std::string message_;
};

}  // namespace evictd::http
