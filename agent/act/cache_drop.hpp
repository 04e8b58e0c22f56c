// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Asks the kernel to drop the page cache that victims left behind, in a lane of its own: the kernel may take seconds
// over one, and may hang where the server of a file system does not answer. Not for what stays charged: policy reports
// that.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"
#include "sys/clock.hpp"
#include "sys/lane.hpp"

namespace evictd::act {

class CacheDrop {
public:
    // Victims that wait at most. There are seldom two; the page cache of more is left to the kernel.
    static constexpr std::size_t most_waiting = 32;

    static Result<std::unique_ptr<CacheDrop>> make(const sys::Clock& clock);

    // All from one thread, and none blocks. The victim is asked for at once.
    void add(port::PodCgroupPtr victim);
    // Asks again for those that were not written back. For due().
    void try_again();
    // When try_again() is to be called; none: no victim waits.
    [[nodiscard]] std::optional<MonotonicTime> due() const { return due_; }

private:
    // What the lane's thread, which may be left behind, shares with this.
    struct Waiting {
        port::PodCgroupPtr victim;
        MonotonicTime until;
        std::atomic<bool> is_asked = false;  // a task for it waits or runs
        std::atomic<bool> is_over = false;
    };
    explicit CacheDrop(const sys::Clock& clock) : clock_(clock) {}
    void ask(const std::shared_ptr<Waiting>& waiting);

    const sys::Clock& clock_;
    std::vector<std::shared_ptr<Waiting>> waiting_;
    std::optional<MonotonicTime> due_;
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::act
