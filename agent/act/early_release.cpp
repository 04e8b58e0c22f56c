// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/early_release.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evictd::act {

Result<std::unique_ptr<EarlyRelease>> EarlyRelease::make(Release release) {
    std::unique_ptr<EarlyRelease> made(new EarlyRelease(std::move(release)));
    // Not drained: at the agent's end the processes give their memory back by exiting.
    auto lane = sys::Lane::make("evictd-release", most_waiting, Duration::zero(), sys::Duty::expendable);
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    return made;
}

// Only one thread adds to `waiting`, so what is room here stays room.
void EarlyRelease::take_from(std::vector<HeldProcess>& held) {
    const auto count = std::min(held.size(), most_waiting - shared_->waiting);
    if (count == 0) {
        return;
    }
    const auto end = held.begin() + static_cast<std::ptrdiff_t>(count);
    const auto taken =
        std::make_shared<std::vector<HeldProcess>>(std::make_move_iterator(held.begin()), std::make_move_iterator(end));
    held.erase(held.begin(), end);
    shared_->waiting += count;
    const bool posted = lane_->post([shared = shared_, taken] {
        for (auto& process : *taken) {
            shared->release(process);
            process.pidfd.reset();
            --shared->waiting;
        }
    });
    if (!posted) {
        shared_->waiting -= count;
    }
}

}  // namespace evictd::act
