// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The keys of a scenario, and where one belongs that is in the wrong map.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace evictd::replay {

inline constexpr std::array<std::string_view, 8> scenario_keys{"version", "start", "config",  "node",
                                                               "pods",    "steps", "runtime", "objects"};
inline constexpr std::array<std::string_view, 3> node_keys{"capacity", "dedicatedImageFs", "dedicatedContainerFs"};
inline constexpr std::array<std::string_view, 14> step_keys{
    "at",    "available",     "reclaimable", "usage",     "unavailable", "gcFrees", "stuck",
    "admit", "evictionFails", "taints",      "scaleDown", "qos",         "gc",      "delete"};

// A remedy: "pods is a top-level key". Empty: it is a key of neither the scenario, its node nor its steps.
[[nodiscard]] std::string where_key_belongs(std::string_view key);

}  // namespace evictd::replay
