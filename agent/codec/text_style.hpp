// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How text is to look, decided by who knows the terminal (cli), and the escape sequences for it.
#pragma once

#include <string>
#include <string_view>

#include "evictd/model/units.hpp"

namespace evictd::codec {

struct TextStyle {
    bool color = false;
    bool unicode = true;
    int columns = 0;         // 0: as wide as it gets (a pipe)
    Duration utc_offset{0};  // of the reader's time zone
};

enum class Tone { plain, bold, dim, red, yellow, green };

// `text` in `tone`; plain text without colour.
[[nodiscard]] std::string toned(std::string_view text, Tone tone, const TextStyle& style);

// Terminal cells `text` takes: escape sequences count nothing, every code point one (we print no wide ones).
[[nodiscard]] std::size_t width_of(std::string_view text);

// Cut to `width` cells with an ellipsis; only for text without escape sequences.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t width, const TextStyle& style);

}  // namespace evictd::codec
