// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How soon killed processes get a CPU to exit on. Where every CPU is busy, a process of a BestEffort pod gets a
// thousandth of one, and its memory comes back after seconds.
#pragma once

#include "act/signals.hpp"

namespace evictd::act {

enum class ExitPriority { normal, first };

// Of the main thread, which exits last in most processes. `first`: before all normal threads, under SCHED_FIFO at the
// lowest priority; where the kernel refuses that (with CONFIG_RT_GROUP_SCHED a pod's cgroup has no real-time budget),
// under SCHED_DEADLINE with a twentieth of a CPU of its own and what others leave. Best effort.
// True: it is under SCHED_DEADLINE, and so comes before evictd's own threads too.
bool set_exit_priority(const HeldProcess& process, ExitPriority priority);

}  // namespace evictd::act
