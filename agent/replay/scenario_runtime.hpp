// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the scenario's container runtime holds. Its times are written relative to the scenario's start.
#pragma once

#include "evictd/model/runtime.hpp"
#include "replay/value.hpp"

namespace evictd::replay {

[[nodiscard]] Runtime read_runtime(const Value& map, WallTime start);

}  // namespace evictd::replay
