// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The path of a request in a block of HTTP/2 headers (HPACK, RFC 7541): just enough for the first request of a
// connection of nghttp2's, whose names before the path are indexed and whose path is ASCII.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace evictd::fakes {

// Appendix B's code is canonical: of each length the codes follow each other in the order of the characters, and the
// first of a length follows the last of the one before. So the characters of each length are the whole table; those of
// more than 8 bits are in no path here. What is not a code ends the text.
inline std::string huffman_text(std::string_view bytes) {
    constexpr std::size_t shortest = 5;
    constexpr std::array<std::string_view, 4> of_length{"012aceiost", " %-./3456789=A_bdfghlmnpru",
                                                        ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz", "&*,;XZ"};
    std::string text;
    std::size_t bit = 0;
    const auto next_bit = [&] { return static_cast<std::uint8_t>(bytes[bit / 8]) >> (7U - bit % 8) & 1U; };
    for (;;) {
        std::size_t code = 0;
        std::size_t first = 0;
        std::size_t length = 0;
        for (; length < shortest - 1; length++, bit++) {
            if (bit == bytes.size() * 8) return text;
            code = code << 1U | next_bit();
        }
        bool is_found = false;
        for (const auto characters : of_length) {
            if (bit == bytes.size() * 8) return text;
            code = code << 1U | next_bit();
            bit++;
            is_found = code - first < characters.size();
            if (is_found) {
                text += characters[code - first];
                break;
            }
            first = (first + characters.size()) << 1U;
        }
        if (!is_found) return text;
    }
}

// Empty: there is none that can be read.
inline std::string path_of(std::string_view block) {
    while (block.size() > 2) {
        const auto head = static_cast<std::uint8_t>(block.front());
        block.remove_prefix(1);
        if ((head & 0x80U) != 0) continue;  // indexed, name and value
        const bool is_path = (head & 0x0fU) == 4 || (head & 0x0fU) == 5;
        const auto length = static_cast<std::uint8_t>(block.front());
        const auto value = block.substr(1, length & 0x7fU);
        block.remove_prefix(1 + value.size());
        if (is_path) return (length & 0x80U) != 0 ? huffman_text(value) : std::string(value);
    }
    return {};
}

}  // namespace evictd::fakes
