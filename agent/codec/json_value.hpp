// SPDX-License-Identifier: Apache-2.0
// Reading JSON that somebody else wrote: a key that is missing or of another type is absent, never an exception. Only
// for codec's own .cpp files and for who writes requests: it brings nlohmann-json with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace evictd::codec {

[[nodiscard]] inline std::string text_at(const nlohmann::ordered_json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

[[nodiscard]] inline std::optional<std::int64_t> number_at(const nlohmann::ordered_json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

[[nodiscard]] inline bool flag_at(const nlohmann::ordered_json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
}

[[nodiscard]] inline const nlohmann::ordered_json* object_at(const nlohmann::ordered_json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_object() ? &*found : nullptr;
}

// The elements of the array at `key`; empty when there is none.
[[nodiscard]] inline const nlohmann::ordered_json& list_at(const nlohmann::ordered_json& json, const char* key) {
    static const nlohmann::ordered_json empty = nlohmann::ordered_json::array();
    const auto found = json.find(key);
    return found != json.end() && found->is_array() ? *found : empty;
}

// On one line; bytes that are not UTF-8 are replaced rather than thrown about.
[[nodiscard]] inline std::string dump_line(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace evictd::codec
