// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Colours, widths and cutting to width: the three things a table needs and a log file does not.
#include "text_style.hpp"

namespace evictd::codec {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

const char* code(Tone tone) {
    switch (tone) {
        case Tone::plain:
            return "";
        case Tone::bold:
            return "\033[1m";
        case Tone::dim:
            return "\033[2m";
        case Tone::red:
            return "\033[31m";
        case Tone::yellow:
            return "\033[33m";
        case Tone::green:
            return "\033[32m";
    }
    return "";
}

}  // namespace

std::string toned(std::string_view text, Tone tone, const TextStyle& style) {
    if (!style.color || tone == Tone::plain || text.empty()) return std::string(text);
    return code(tone) + std::string(text) + "\033[0m";
}

std::size_t width_of(std::string_view text) {
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\033') {
            while (i < text.size() && text[i] != 'm') ++i;
        } else if (!continues(text[i])) {
            ++width;
        }
    }
    return width;
}

std::string clipped(std::string_view text, std::size_t width, const TextStyle& style) {
    if (width_of(text) <= width) return std::string(text);
    const std::string_view mark = style.unicode ? "…" : "~";
    std::size_t cells = 0;
    std::size_t end = 0;
    while (end < text.size()) {
        if (!continues(text[end]) && ++cells >= width) break;
        ++end;
    }
    return width == 0 ? std::string{} : std::string(text.substr(0, end)) + std::string(mark);
}

}  // namespace evictd::codec
