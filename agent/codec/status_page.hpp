// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the pages of `evictd status` and `evictd explain` have in common. Only for the .cpp files that write them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "json_value.hpp"
#include "text_table.hpp"

namespace evictd::codec {

[[nodiscard]] inline std::string shown(const nlohmann::ordered_json& json, const char* key) {
    return printable(text_at(json, key));
}

[[nodiscard]] inline Cell cell(std::string text, Tone tone = Tone::plain) {
    return {std::move(text), tone, std::nullopt};
}

[[nodiscard]] inline std::string title(const std::string& text, const TextStyle& style) {
    return "\n" + toned(text, Tone::bold, style) + "\n";
}

[[nodiscard]] inline std::int64_t quantity_at(const nlohmann::ordered_json& json, const char* key) {
    const auto quantity = parse_quantity(text_at(json, key));
    return quantity ? quantity->value() : 0;
}

}  // namespace evictd::codec
