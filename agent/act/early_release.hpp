// SPDX-License-Identifier: Apache-2.0
// Gives the memory of killed processes back before they get scheduled to exit, in a lane of its own:
// process_mrelease(2) waits for as long as a victim holds its address space locked. A victim that does so holds up
// this lane and nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
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
    using Release = std::function<void(const HeldProcess&)>;

    static Result<std::unique_ptr<EarlyRelease>> make(Release release);

    // Takes those out of `held` for which there is room. The rest frees its memory when it exits. Does not block.
    void take_from(std::vector<HeldProcess>& held);

private:
    explicit EarlyRelease(Release release) : release_(std::move(release)) {}

    Release release_;
    std::atomic<std::size_t> waiting_ = 0;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread must be gone before what it uses
};

}  // namespace evictd::act
