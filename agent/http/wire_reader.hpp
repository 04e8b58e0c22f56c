// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Protocol Buffers' wire format, field by field: no message is known here, nothing is allocated, and bytes that are not
// a message are an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "evictd/model/result.hpp"

namespace evictd::http {

struct WireField {
    enum class Type : std::uint8_t { varint, bytes, fixed };  // fixed: of 4 or 8 bytes, whose value is left out

    std::uint32_t number = 0;
    Type type = Type::varint;
    std::uint64_t varint = 0;
    std::string_view bytes{};  // text, bytes, a message or packed numbers; within the message that was given
};

class WireReader {
public:
    enum class Of : std::uint8_t {
        whole,      // a message
        beginning,  // of one: bytes that are cut off are handed on as far as they are there, and are the last field
    };
    explicit WireReader(std::string_view message, Of of = Of::whole) : rest_(message), of_(of) {}

    // The next field; none: the end. Error (`invalid`): the message is cut off within a field, or is none.
    [[nodiscard]] Result<std::optional<WireField>> next();

private:
    [[nodiscard]] Result<std::uint64_t> varint();
    [[nodiscard]] Result<std::string_view> take(std::uint64_t size);

    std::string_view rest_;
    Of of_;
};

}  // namespace evictd::http
