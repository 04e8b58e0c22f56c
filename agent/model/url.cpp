// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/url.hpp"

namespace evictd {

std::string url_escaped(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string all;
    for (const char c : text) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (is_letter || c == '-' || c == '.' || c == '_' || c == '~') {
            all += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            all += '%';
            all += digits[byte >> 4U];
            all += digits[byte & 15U];
        }
    }
    return all;
}

}  // namespace evictd
