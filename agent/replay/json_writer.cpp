// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/json_writer.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace evictd::replay {

// What is not plain ASCII is rare and left to the library, which also replaces what is not UTF-8.
void JsonWriter::quote(std::string_view value) {
    const bool plain =
        std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
    if (plain) {
        out_ += '"';
        out_ += value;
        out_ += '"';
    } else {
        out_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
}

}  // namespace evictd::replay
