// SPDX-License-Identifier: Apache-2.0
#include "act/reaper.hpp"

#include <algorithm>
#include <csignal>

#include "act/signals.hpp"
#include "sys/log.hpp"

namespace evictd::act {
namespace {

// Between two rounds: a killed process needs about 1 ms to go. A longer pause would let a fork bomb grow back, a
// shorter one only burns the CPU that the dying need.
constexpr Duration first_pause = std::chrono::milliseconds(1);
constexpr Duration longest_pause = std::chrono::milliseconds(100);
// As long as the policy waits for a victim (podCleanupTimeout of the kubelet's eviction manager).
constexpr Duration give_up_after = std::chrono::seconds(30);

}  // namespace

struct Reaper::Pursuit {
    port::PodCgroupPtr victim;
    MonotonicTime since;
    Duration pause = first_pause;
    sys::Timer timer;
};

Result<std::unique_ptr<Reaper>> Reaper::make(const sys::Clock& clock) {
    std::unique_ptr<Reaper> reaper(new Reaper(clock));
    auto lane = sys::Lane::make("evictd-reaper");
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    reaper->lane_ = std::move(*lane);
    return reaper;
}

void Reaper::follow(port::PodCgroupPtr victim) {
    lane_->post([this, victim = std::move(victim)]() mutable {
        auto pursuit = std::make_shared<Pursuit>(Pursuit{std::move(victim), clock_.monotonic(), first_pause, {}});
        pursuits_.push_back(pursuit);
        pursue(pursuit);
    });
}

void Reaper::pursue(const std::shared_ptr<Pursuit>& pursuit) {
    const auto finish = [&] { std::erase(pursuits_, pursuit); };
    auto left = hold_processes(*pursuit->victim);
    if (!left || left->empty()) {
        finish();
        return;
    }
    // Once more to everybody: who forked away since then gets it now, and for the others it changes nothing.
    if (pursuit->victim->can_kill()) {
        (void)pursuit->victim->kill();
    } else {
        (void)signal_all(*left, SIGKILL);
        if (pursuit->victim->can_freeze()) {
            (void)pursuit->victim->thaw();
        }
    }
    for (const auto& process : *left) {
        release_memory(process);
    }
    if (clock_.monotonic() - pursuit->since > give_up_after) {
        sys::log::warn(pursuit->victim->path() + ": " + std::to_string(left->size()) +
                       " processes are left 30 s after SIGKILL: they hang in the kernel");
        finish();
        return;
    }
    if (!pursuit->timer) {
        auto timer = lane_->loop().add_timer([this, pursuit_weak = std::weak_ptr(pursuit)] {
            if (auto alive = pursuit_weak.lock()) {
                pursue(alive);
            }
        });
        if (!timer) {
            sys::log::error(timer.error().text());
            finish();
            return;
        }
        pursuit->timer = std::move(*timer);
    }
    pursuit->timer.arm(clock_.monotonic() + pursuit->pause);
    pursuit->pause = std::min(longest_pause, 2 * pursuit->pause);
}

}  // namespace evictd::act
