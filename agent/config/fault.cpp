// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Faults as text. Nothing that a file holds reaches the terminal unescaped or at full length.
#include "config/fault.hpp"

namespace evictd::config {

std::string go_quoted(std::string_view text) {
    constexpr std::size_t longest = 400;
    constexpr std::string_view named = "\a\b\f\n\r\t\v\"\\";
    constexpr std::string_view names = "abfnrtv\"\\";
    std::string out = "\"";
    for (const char c : text.substr(0, longest)) {
        const std::size_t at = named.find(c);
        if (at != std::string_view::npos) {
            out += {'\\', names[at]};
        } else {
            out += printable({&c, 1});
        }
    }
    return out + (text.size() > longest ? "...\"" : "\"");
}

std::string Fault::text() const {
    std::string out = file;
    if (line > 0) out += ":" + std::to_string(line);
    out += ": ";
    if (!key.empty()) out += key + ": ";
    out += what;
    return remedy.empty() ? out : out + " (" + remedy + ")";
}

}  // namespace evictd::config
