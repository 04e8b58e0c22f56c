// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Gives the memory of killed processes back before they get scheduled to exit, in a lane of its own:
// process_mrelease(2) waits for as long as a victim holds its address space locked. A victim that does so holds up
// this lane and nothing else.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
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
    using Release = std::function<void(const HeldProcess&)>;

    // A release that does not end may be called until the program ends, beyond the EarlyRelease: what `release` uses
    // has to live as long.
    static Result<std::unique_ptr<EarlyRelease>> make(Release release);

    // Takes those out of `held` for which there is room. The rest frees its memory when it exits. Does not block.
    void take_from(std::vector<HeldProcess>& held);

private:
    struct Shared {  // with the lane's thread, which may be left behind
        explicit Shared(Release to_use) : release(std::move(to_use)) {}
        Release release;
        std::atomic<std::size_t> waiting = 0;
    };
    explicit EarlyRelease(Release release) : shared_(std::make_shared<Shared>(std::move(release))) {}

    std::shared_ptr<Shared> shared_;
    std::unique_ptr<sys::Lane> lane_;
};

}  // namespace evictd::act
