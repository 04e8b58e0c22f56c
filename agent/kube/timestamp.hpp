// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// RFC 3339, the form of every time in a Kubernetes object.
#pragma once

#include <optional>
#include <string_view>

#include "evictd/model/units.hpp"

namespace evictd::kube {

// 2026-01-31T12:00:00Z, with a fraction and a numeric offset if need be. nullopt if it is none, or beyond what 64 bits
// of nanoseconds hold (1678 to 2261).
[[nodiscard]] std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace evictd::kube
