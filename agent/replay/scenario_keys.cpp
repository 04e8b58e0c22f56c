// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_keys.hpp"

#include <algorithm>
#include <span>

#include "config/kubelet_settings.hpp"

namespace evictd::replay {

std::string where_key_belongs(std::string_view key) {
    const auto is_in = [&](std::span<const std::string_view> keys) {
        return std::find(keys.begin(), keys.end(), key) != keys.end();
    };
    const auto under = [&](std::string_view above) {
        return std::string(key) + " belongs under " + std::string(above);
    };
    if (is_in(scenario_keys)) return std::string(key) + " is a top-level key";
    if (is_in(node_keys)) return under("node:");
    if (is_in(step_keys)) return under("steps:");
    const auto settings = config::kubelet_settings();
    const auto is_setting = [&](const config::KubeletSetting& row) { return row.name == key; };
    const bool is_config = key == "evictd" || std::any_of(settings.begin(), settings.end(), is_setting);
    return is_config ? under("config:") : "";
}

}  // namespace evictd::replay
