// SPDX-License-Identifier: Apache-2.0
// Faults as text. Nothing that a file holds reaches the terminal unescaped or at full length.
#include "config/fault.hpp"

namespace evictd::config {

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 80;  // a value that is longer is not recognised by its tail
    constexpr std::string_view hex = "0123456789abcdef";
    std::string out;
    for (const char c : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte < 0x7f) {
            out += c;
        } else {
            out += {'\\', 'x', hex[byte >> 4], hex[byte & 0xf]};
        }
    }
    return text.size() > longest ? out + "..." : out;
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
