// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the scenario's container runtime holds. Its times are written relative to the scenario's start.
#pragma once

#include "document/value.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::replay {

using document::Value;

[[nodiscard]] Runtime read_runtime(const Value& map, WallTime start);

}  // namespace evictd::replay
