// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Gives the memory of killed processes back before they get scheduled to exit, in a lane of its own:
// process_mrelease(2) waits for as long as a victim holds its address space locked. A victim that does so holds up
// this lane and nothing else. Once the last thread has left the address space, that thread takes it down alone, and
// this call comes too late: so the lane is woken before the kill, and runs before normal threads, but not for long. A
// second lane, which does nothing else and never blocks, gives it the normal policy again.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "act/signals.hpp"
#include "evictd/model/result.hpp"
#include "sys/lane.hpp"

namespace evictd::act {

class EarlyRelease {
public:
    // Processes that wait here at most, each with a descriptor. Few victims have more; with a limit of 200 descriptors
    // the double would leave too few for the kill.
    static constexpr std::size_t most_waiting = 64;
    // Left to the kill itself, which takes descriptors for each process.
    static constexpr int spare_descriptors = 64;
    // Waits for the kill of what it expects, on a CPU: sleeping would take longer than the kill does.
    static constexpr Duration longest_wait = std::chrono::milliseconds(1);
    // Counted from the first victim of several. Enough to free 4 GiB. A quarter of what real-time threads may work
    // without a pause (app/realtime.hpp); beyond that the kill path's thread would lose its priority.
    static constexpr Duration urgent_for = std::chrono::milliseconds(250);
    using Release = std::function<bool(const HeldProcess&)>;  // as release_memory()

    // A release that does not end may be called until the program ends, beyond the EarlyRelease: what `release` uses
    // has to live as long.
    // `urgent_priority`: of SCHED_FIFO, for `urgent_for`; 0: the normal policy.
    static Result<std::unique_ptr<EarlyRelease>> make(Release release, int urgent_priority = 0);

    // Releases the memory of those that are killed next, as far as there is room and a descriptor for each. Urgent: for
    // `longest_wait` if no kill follows, and begin() otherwise. Thread-safe, as all of these. Does not block.
    void expect(std::span<const HeldProcess> doomed);

    // A victim was killed: `urgent_for` begins, unless it has begun. Does not block.
    void begin();

    // Takes those out of `held` for which there is room. The rest frees its memory when it exits. Does not block.
    void take_from(std::vector<HeldProcess>& held);

private:
    struct Shared {  // with the lane's thread, which may be left behind
        explicit Shared(Release to_use) : release(std::move(to_use)) {}
        Release release;
        std::atomic<std::size_t> waiting = 0;
    };
    EarlyRelease(Release release, int urgent_priority)
        : shared_(std::make_shared<Shared>(std::move(release))), urgent_priority_(urgent_priority) {}
    [[nodiscard]] std::size_t reserve(std::size_t wanted);
    void post(std::vector<HeldProcess> processes, Duration wait, int priority);
    [[nodiscard]] Status start_watch();
    void give_way_at(std::optional<MonotonicTime> due);

    std::shared_ptr<Shared> shared_;
    int urgent_priority_;
    std::atomic<bool> is_urgent_ = false;
    std::unique_ptr<sys::Lane> lane_;
    sys::Timer timer_;                  // of watch_
    std::unique_ptr<sys::Lane> watch_;  // its thread uses lane_; none where nothing is urgent
};

}  // namespace evictd::act
