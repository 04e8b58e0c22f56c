// SPDX-License-Identifier: Apache-2.0
#include "act/early_release.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace evictd::act {

Result<std::unique_ptr<EarlyRelease>> EarlyRelease::make(Release release) {
    std::unique_ptr<EarlyRelease> made(new EarlyRelease(std::move(release)));
    auto lane = sys::Lane::make("evictd-release", most_waiting, sys::Lane::default_drain, sys::Duty::may_block);
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    return made;
}

// Only one thread adds to `waiting_`, so what is room here stays room.
void EarlyRelease::take_from(std::vector<HeldProcess>& held) {
    const auto count = std::min(held.size(), most_waiting - waiting_);
    if (count == 0) {
        return;
    }
    const auto end = held.begin() + static_cast<std::ptrdiff_t>(count);
    const auto taken =
        std::make_shared<std::vector<HeldProcess>>(std::make_move_iterator(held.begin()), std::make_move_iterator(end));
    held.erase(held.begin(), end);
    waiting_ += count;
    const bool posted = lane_->post([this, taken] {
        for (auto& process : *taken) {
            release_(process);
            process.pidfd.reset();
            --waiting_;
        }
    });
    if (!posted) {
        waiting_ -= count;
    }
}

}  // namespace evictd::act
