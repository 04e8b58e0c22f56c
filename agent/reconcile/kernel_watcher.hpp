// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Has the kernel watch what the last Decision wants, and remembers what it said of that. Inline: map updates, and a
// program attached or detached a few times in a minute at most. Nothing to put back: what is watched ends with the
// agent.
#pragma once

#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/kernel_event.hpp"
#include "evictd/model/kernel_watch.hpp"
#include "evictd/port/kernel_event_source.hpp"

namespace evictd::reconcile {

// Which line the kernel reported.
enum class Crossing : std::uint8_t {
    line,      // one that the Decision wants watched
    approach,  // the second line above one of those, downwards: the agent gets ready
    other,     // the same upwards, or a line that is not watched any more
};

class KernelWatcher {
public:
    // `events` outlives it.
    explicit KernelWatcher(port::KernelEventSource& events) : events_(events) {}

    // A call that fails is logged and retried at the next reconcile(), except watch_exits(), which is retried only
    // after it was off.
    void reconcile(const KernelWatch& wanted, MonotonicTime now);
    // The programs know these pods from now on.
    void show_pods(const Observation& observation, const std::vector<RankedPod>& ranking);

    Crossing note(const WatermarkCrossed& crossed);
    // Of the lines that the kernel last reported as crossed, the lowest of each signal.
    [[nodiscard]] LowestCrossed lowest_crossed() const;
    [[nodiscard]] const std::vector<Watermark>& lines() const { return lines_; }
    [[nodiscard]] bool watches_exits() const { return exits_watched_; }

private:
    void watch(const std::vector<Watermark>& lines, const std::vector<Watermark>& approaches);
    void watch_exits(bool wanted, MonotonicTime now);

    port::KernelEventSource& events_;
    std::vector<Watermark> lines_;
    std::vector<Watermark> crossed_;  // of `lines_`, as the kernel reported last
    std::optional<std::vector<StallLine>> stall_lines_;
    std::optional<MemoryAvailable> memory_counted_as_;
    MonotonicTime exits_until_;
    bool exits_watched_ = false;
    std::vector<port::ShownPod> shown_;  // its capacity is reused
    bool show_failed_ = false;
};

}  // namespace evictd::reconcile
