// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/cache_drop.hpp"

#include <utility>

namespace evictd::act {
namespace {

// Half of it would add up counters twice as often for the same answer; twice as long would leave memory that is needed
// now unused for longer than the kubelet's housekeeping looks.
constexpr Duration pause = std::chrono::seconds(1);
// As long as the policy waits for a victim (podCleanupTimeout of the kubelet's eviction manager).
constexpr Duration longest_wait = std::chrono::seconds(30);

}  // namespace

Result<std::unique_ptr<CacheDrop>> CacheDrop::make(const sys::Clock& clock) {
    std::unique_ptr<CacheDrop> made(new CacheDrop(clock));
    // Not drained: at the agent's end nothing has to be put back.
    auto lane = sys::Lane::make("evictd-cache", most_waiting, Duration::zero(), sys::Duty::expendable);
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    return made;
}

void CacheDrop::add(port::PodCgroupPtr victim) {
    if (waiting_.size() >= most_waiting) {
        return;
    }
    const auto now = clock_.monotonic();
    auto waiting = std::make_shared<Waiting>();
    waiting->victim = std::move(victim);
    waiting->until = now + longest_wait;
    waiting_.push_back(waiting);
    ask(waiting);
    due_ = due_.value_or(now + pause);
}

// No error is logged: policy sees what stays charged, and reports it (MemoryNotReturned).
void CacheDrop::ask(const std::shared_ptr<Waiting>& waiting) {
    if (waiting->is_asked.exchange(true)) {
        return;
    }
    // The last time may have ended after try_again() looked.
    const bool posted = !waiting->is_over && lane_->post([waiting] {
        const auto asked = waiting->victim->drop_cache();
        waiting->is_over = !asked || *asked;
        waiting->is_asked = false;
    });
    if (!posted) {
        waiting->is_asked = false;
    }
}

void CacheDrop::try_again() {
    const auto now = clock_.monotonic();
    std::erase_if(waiting_, [now](const auto& waiting) { return waiting->is_over || now >= waiting->until; });
    for (const auto& waiting : waiting_) {
        ask(waiting);
    }
    due_ = waiting_.empty() ? std::nullopt : std::optional(now + pause);
}

}  // namespace evictd::act
