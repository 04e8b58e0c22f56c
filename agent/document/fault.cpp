// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Faults as text. Nothing that a file holds reaches the terminal unescaped or at full length.
#include "document/fault.hpp"

namespace evictd::document {

std::string Fault::text() const {
    std::string out = file;
    if (line > 0) out += ":" + std::to_string(line);
    out += ": ";
    if (!key.empty()) out += key + ": ";
    out += what;
    return remedy.empty() ? out : out + " (" + remedy + ")";
}

void append_name(std::string& key, std::string_view name) { key += (key.empty() ? "" : ".") + excerpt(name); }

void append_index(std::string& key, std::size_t index) { key += "[" + std::to_string(index) + "]"; }

}  // namespace evictd::document
