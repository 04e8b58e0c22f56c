// SPDX-License-Identifier: Apache-2.0
// What makes a thread answer at once: a real-time priority, and memory that is never paged out nor comes late.
#pragma once

#include <string>

namespace evictd::app {

// No page fault of this process, whenever it comes, clears 2 MiB where 4 KiB are wanted. Before there is much of a
// heap.
void refuse_huge_pages();

// Gives the calling thread SCHED_FIFO at `priority` (0: left alone) and locks what the process touches into memory.
// Lanes made afterwards are normal threads. Returns what could not be had, for people; empty: all is well.
[[nodiscard]] std::string become_realtime(int priority);

}  // namespace evictd::app
