// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// spec.activeDeadlineSeconds: whether a pod has been active for longer than it may be. Not for Jobs, whose deadline
// their controller keeps.
#pragma once

#include <string_view>

#include "evictd/model/pod.hpp"
#include "evictd/model/units.hpp"

namespace evictd::policy {

// What the status of such a pod says; active_deadline.go.
inline constexpr std::string_view deadline_reason = "DeadlineExceeded";
inline constexpr std::string_view deadline_message = "Pod was active on the node longer than the specified deadline";

// activeDeadlineHandler.pastActiveDeadline: from its start, and a pod that has not started never is.
[[nodiscard]] bool past_active_deadline(const Pod& pod, WallTime now);

}  // namespace evictd::policy
