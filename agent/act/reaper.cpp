// SPDX-License-Identifier: Apache-2.0
#include "act/reaper.hpp"

#include <algorithm>
#include <csignal>
#include <optional>

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

// The victim's freezer while it lives: nobody in it forks. What was frozen is always thawed, on every way out.
class Freeze {
public:
    explicit Freeze(const port::PodCgroup& victim) : victim_(victim) { (void)victim.freeze(); }
    Freeze(const Freeze&) = delete;
    Freeze& operator=(const Freeze&) = delete;
    ~Freeze() { (void)victim_.thaw(); }

private:
    const port::PodCgroup& victim_;
};

}  // namespace

struct Reaper::Pursuit {
    port::PodCgroupPtr victim;
    MonotonicTime since;
    Duration pause = first_pause;
    std::optional<std::vector<pid_t>> seen;  // in the last round
    bool forks = false;                      // there was somebody new in it
    sys::Timer timer;

    // Who is there in this round. Somebody new: they fork.
    void note(std::vector<pid_t> listed) {
        std::sort(listed.begin(), listed.end());
        forks = seen && !std::includes(seen->begin(), seen->end(), listed.begin(), listed.end());
        seen = std::move(listed);
    }
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
        if (!victim->can_kill() && victim->can_freeze()) {
            (void)victim->thaw();  // whoever was frozen by somebody else dies only when thawed (v1)
        }
        auto pursuit = std::make_shared<Pursuit>();
        pursuit->victim = std::move(victim);
        pursuit->since = clock_.monotonic();
        pursuits_.push_back(pursuit);
        pursue(pursuit);
    });
}

// SIGKILL to everybody once more: who forked away since then gets it now, and for the others it changes nothing.
// False: nobody is left.
bool Reaper::strike_again(Pursuit& pursuit) {
    const auto& victim = *pursuit.victim;
    // Freezing makes every fork() in flight fail or its child start frozen: who is listed then is all there is. Only
    // against those who fork, because it also keeps the dying from ending.
    std::optional<Freeze> freeze;
    if (pursuit.forks && !victim.can_kill() && victim.can_freeze()) {
        freeze.emplace(victim);
    }
    auto listed = victim.processes();
    if (!listed) {
        return listed.error().kind != ErrorKind::vanished;
    }
    pursuit.note(std::move(*listed));
    if (victim.can_kill()) {
        (void)victim.kill();
    }
    const auto held = hold_processes(victim, *pursuit.seen);
    if (held && !victim.can_kill()) {
        (void)signal_all(*held, SIGKILL);
    }
    freeze.reset();
    if (held) {
        std::for_each(held->begin(), held->end(), release_memory);
    }
    return !pursuit.seen->empty();
}

void Reaper::pursue(const std::shared_ptr<Pursuit>& pursuit) {
    const bool late = clock_.monotonic() - pursuit->since > give_up_after;
    const bool left = strike_again(*pursuit);
    if (left && late) {
        sys::log::warn(pursuit->victim->path() + ": " + std::to_string(pursuit->seen ? pursuit->seen->size() : 0) +
                       " processes are left 30 s after SIGKILL: they hang in the kernel");
    }
    if (!left || late) {
        std::erase(pursuits_, pursuit);
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
            std::erase(pursuits_, pursuit);
            return;
        }
        pursuit->timer = std::move(*timer);
    }
    pursuit->timer.arm(clock_.monotonic() + pursuit->pause);
    pursuit->pause = pursuit->forks ? first_pause : std::min(longest_pause, 2 * pursuit->pause);
}

}  // namespace evictd::act
