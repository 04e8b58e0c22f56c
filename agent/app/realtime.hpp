// SPDX-License-Identifier: Apache-2.0
// What makes a thread answer at once: a real-time priority, and memory that is never paged out.
#pragma once

#include <string>

namespace evictd::app {

// Gives the calling thread SCHED_FIFO at `priority` (0: left alone) and locks what the process touches into memory.
// Lanes made afterwards are normal threads. Returns what could not be had, for people; empty: all is well.
[[nodiscard]] std::string become_realtime(int priority);

}  // namespace evictd::app
