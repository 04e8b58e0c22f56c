// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What makes a thread answer at once: a real-time priority, and memory that is never paged out nor comes late.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "evictd/model/result.hpp"

namespace evictd::app {

// After this no page fault clears 2 MiB where 4 KiB are wanted, except those of kernel/load_memory at the start. Call
// it before there is much of a heap.
void refuse_huge_pages();

// Gives the calling thread SCHED_FIFO at `priority` (0: left alone) and locks what the process touches into memory.
// Lanes made afterwards are normal threads. Returns what could not be had, for people; empty: all is well.
[[nodiscard]] std::string become_realtime(int priority);

// What other threads have that are urgent now and then, where the kill path has `priority`: they come after it.
[[nodiscard]] int urgency_below(int priority);

// A real-time thread that works this long without ever waiting loses its priority: it would keep a CPU from everything
// else, also from what could end it. A turn of the loop with 10,000 pods takes a tenth of it. Where that does not help,
// the kernel kills the agent at `hard`, and it is started again.
struct RealtimeLimit {
    std::chrono::microseconds soft = std::chrono::seconds(1);
    std::chrono::microseconds hard = std::chrono::seconds(10);
};

// Of the calling thread, which must be the one that became_realtime(). Not thread-safe; one at a time.
class RealtimeGuard {
public:
    static Result<std::unique_ptr<RealtimeGuard>> make(int priority, RealtimeLimit limit = {});
    RealtimeGuard(const RealtimeGuard&) = delete;
    RealtimeGuard& operator=(const RealtimeGuard&) = delete;
    ~RealtimeGuard();  // no limit any more

    // Whether the priority was lost since it was last given back.
    [[nodiscard]] bool lost() const;
    // Gives it back, in the thread itself.
    void restore() const;

private:
    RealtimeGuard(int priority, RealtimeLimit limit) : priority_(priority), limit_(limit) {}
    int priority_;
    RealtimeLimit limit_;
};

}  // namespace evictd::app
