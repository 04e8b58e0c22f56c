// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The parts of the time from the kernel's event to the end of a victim.
#pragma once

#include "event.hpp"

namespace evictd::codec {

// `delivered_at`: of SIGKILL; zero: it was not, and what ends with it is none.
[[nodiscard]] EventLatency latency_to_kill(const Cause& cause, MonotonicTime decided_at, MonotonicTime delivered_at);

// A victim's way from the kernel's event to its last process. Also what status shows of it.
[[nodiscard]] EventLatency latency_of(const Victim& victim);

}  // namespace evictd::codec
