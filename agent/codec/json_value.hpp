// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Reading JSON that somebody else wrote: a key that is missing or of another type is absent, never an exception. Only
// for codec's own .cpp files and for who writes requests: it brings nlohmann-json with it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "evictd/model/units.hpp"

namespace evictd::codec {

[[nodiscard]] inline std::string text_at(const nlohmann::ordered_json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

// A whole number up to 2^62 either way (4 Ei), so that the difference of two is one, too. Anything bigger is no number
// of ours.
[[nodiscard]] inline std::optional<std::int64_t> number_at(const nlohmann::ordered_json& json, const char* key) {
    constexpr std::int64_t limit = std::int64_t{1} << 62U;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(limit))
        return std::nullopt;
    const auto value = found->get<std::int64_t>();
    return value < -limit || value > limit ? std::nullopt : std::optional(value);
}

[[nodiscard]] inline std::int64_t microseconds(Duration duration) {
    return std::chrono::round<std::chrono::microseconds>(duration).count();
}

// A span given in microseconds; nothing where nanoseconds could not hold it.
[[nodiscard]] inline std::optional<Duration> microseconds_at(const nlohmann::ordered_json& json, const char* key) {
    constexpr auto limit = std::chrono::duration_cast<std::chrono::microseconds>(Duration::max()).count();
    const auto value = number_at(json, key);
    if (!value || *value < 0 || *value > limit) return std::nullopt;
    return std::chrono::microseconds(*value);
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
// ordered_json copies what it holds as it grows, so a deep value would end the stack: what is deeper than this is
// discarded as a whole, as broken text is. `keeps`: whether the value of a key is wanted, by the key's depth.
[[nodiscard]] inline nlohmann::ordered_json parsed_shallow(
    std::string_view text, const std::function<bool(int, const std::string&)>& keeps = {}) {
    using Json = nlohmann::ordered_json;
    constexpr int most_depth = 64;
    bool is_deep = false;
    const auto filter = [&](int depth, Json::parse_event_t event, Json& value) {
        is_deep = is_deep || depth > most_depth;
        if (is_deep) return false;
        return event != Json::parse_event_t::key || !keeps || !value.is_string() ||
               keeps(depth, value.get_ref<const std::string&>());
    };
    auto json = Json::parse(text.begin(), text.end(), filter, /*allow_exceptions=*/false);
    return is_deep ? Json(Json::value_t::discarded) : json;
}

[[nodiscard]] inline std::string dump_line(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace evictd::codec
