// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One ended pod: an attempt to end it, and until when it is watched. Part of ended_pods.
#pragma once

#include "ended_pods.hpp"

namespace evictd::policy {

// SIGKILL is decided at this look, and the API server is to show the pod as failed: a new request.
void begin_attempt(MonotonicTime now, CgroupId cgroup, EndedPod& ended);

// When nothing more is expected of it, if nothing happens before.
[[nodiscard]] MonotonicTime watched_until(const EndedPod& ended);

}  // namespace evictd::policy
