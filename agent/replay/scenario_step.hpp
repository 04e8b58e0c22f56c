// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One step of a scenario. Whether the times of several go forward is not known here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/scenario.hpp"

namespace evictd::replay {

// The scenario's pods by "namespace/name".
class PodNames {
public:
    explicit PodNames(const Scenario& scenario);  // which outlives it
    [[nodiscard]] std::size_t size() const { return names_.size(); }
    // Nothing if there is no such pod, and a fault at `value` unless one was refused that may be it.
    [[nodiscard]] std::optional<PodIndex> find(std::string_view name, const Value& value) const;

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string_view, PodIndex> by_name_;
    const RefusedPods& refused_;
};

// The remedy for a name that is not in the scenario's `list`.
[[nodiscard]] std::string where_to_list(std::string_view name, std::span<const std::string_view> known,
                                        const std::string& list);

[[nodiscard]] Step read_step(const Value& map, const PodNames& names);

// What a step's `usage` says of one pod.
[[nodiscard]] UsageChange read_usage(const Value& usage, PodIndex pod);

}  // namespace evictd::replay
