// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The evictions' part of the status document: those under way, what victims have not given back, and those that ended.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "status_json.hpp"

namespace evictd::codec {

[[nodiscard]] nlohmann::ordered_json in_flight_json(const Tick& tick);
[[nodiscard]] nlohmann::ordered_json owed_json(const Tick& tick);
[[nodiscard]] nlohmann::ordered_json ended_json(const Tick& tick);
// "not_started": containers that no source knows to be created, with their images. Without one: no such key.
void add_not_started(const Pod& pod, nlohmann::ordered_json& json);
// Pods that have succeeded or failed and are still listed: no order of eviction has them.
[[nodiscard]] nlohmann::ordered_json finished_json(const Tick& tick);
[[nodiscard]] nlohmann::ordered_json past_json(const std::vector<PastEviction>& evictions);

}  // namespace evictd::codec
