// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/reaper.hpp"

#include <algorithm>
#include <csignal>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "act/pursuit.hpp"
#include "act/signals.hpp"
#include "sys/log.hpp"

namespace evictd::act {
namespace {

constexpr Duration longest_pause = std::chrono::milliseconds(100);
// A round takes at most a tenth of a CPU, whatever the pod does to its cgroups; against a pod that forks or moves,
// half.
constexpr int rest_per_work = 9;
// As long as the policy waits for a victim (podCleanupTimeout of the kubelet's eviction manager). From then on it is
// looked at now and then, so that it dies when the kernel lets it.
constexpr Duration overdue_after = std::chrono::seconds(30);
constexpr Duration overdue_pause = std::chrono::seconds(5);
// The dying exit before normal threads run, from the second round to here: none needs more, unless it hangs.
constexpr Duration first_for = std::chrono::seconds(1);
// Victims whose rounds are kept. There are seldom two.
constexpr std::size_t most_remembered = 32;

}  // namespace

Reaper::Reaper(const sys::Clock& clock, std::optional<std::string> rungs_path, int urgent_priority,
               Prioritize prioritize)
    : clock_(clock),
      rungs_path_(std::move(rungs_path)),
      urgent_priority_(urgent_priority),
      prioritize_(std::move(prioritize)),
      most_before_us_(std::max<std::size_t>(2, std::thread::hardware_concurrency()) - 1) {}
Reaper::~Reaper() = default;

Result<std::unique_ptr<Reaper>> Reaper::make(const sys::Clock& clock, std::optional<std::string> rungs_path,
                                             EarlyRelease::Release release, int urgent_priority,
                                             Prioritize prioritize) {
    std::unique_ptr<Reaper> reaper(new Reaper(clock, std::move(rungs_path), urgent_priority, std::move(prioritize)));
    // Below the reaper's, so that this can have it give way on a machine of one CPU.
    auto early = EarlyRelease::make(std::move(release), std::max(0, urgent_priority - 1));
    if (!early) {
        return tl::unexpected(early.error());
    }
    reaper->release_ = std::move(*early);
    auto cache = CacheDrop::make(clock);
    if (!cache) {
        return tl::unexpected(cache.error());
    }
    reaper->cache_ = std::move(*cache);
    auto lane = sys::Lane::make("evictd-reaper");
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    reaper->lane_ = std::move(*lane);
    reaper->lane_->post([made = reaper.get()] {  // the timers are there before there is a victim
        made->arm();
        made->arm_cache();
    });
    return reaper;
}

void Reaper::follow(port::PodCgroupPtr victim, bool forks) {
    release_->begin();  // not in the lane, which may be busy for seconds
    auto begin = [this, forks, victim = std::move(victim)]() mutable {
        const auto same = [&](const auto& pursuit) { return pursuit->victim == victim; };
        if (std::none_of(pursuits_.begin(), pursuits_.end(), same)) {
            auto pursuit = std::make_unique<Pursuit>(std::move(victim), clock_.monotonic(), forks);
            if (pursuit->uses_freezer()) {
                (void)pursuit->victim->thaw();  // what was frozen by somebody else dies only when thawed (v1)
            }
            if (!pursue(*pursuit)) {
                pursuits_.push_back(std::move(pursuit));
            }
        }
        arm();
    };
    lane_->post_urgent(std::move(begin), urgent_priority_);
}

void Reaper::finish_terminating(port::PodCgroupPtr pod) {
    lane_->post([this, pod = std::move(pod)] {
        const auto struck = strike(*pod,
                                   {.signal_number = SIGTERM,
                                    .until = clock_.monotonic() + longest_walk_limit,
                                    .close_at_once = true,
                                    .after_batch = {}},
                                   clock_);
        if (struck.trouble && struck.trouble->kind != ErrorKind::vanished) {
            sys::log::error(pod->path() + ": SIGTERM did not reach all of its processes: " + struck.trouble->text());
        }
    });
}

void Reaper::drop_cache(port::PodCgroupPtr victim) {
    lane_->post([this, victim = std::move(victim)]() mutable {
        cache_->add(std::move(victim));
        arm_cache();
    });
}

void Reaper::arm_cache() {
    (void)lane_->arm(cache_timer_, cache_->due(), [this] {
        cache_->try_again();
        arm_cache();
    });
}

// Not in the first round: most have exited by the next, and one that exits at once leaves its address space before
// EarlyRelease can share the work. `before_us`: of this round, those that come before evictd's own threads.
void Reaper::hasten(const Pursuit& pursuit, const std::vector<HeldProcess>& dying, std::set<pid_t>& before_us) const {
    if (urgent_priority_ == 0 || pursuit.rounds == 0) {
        return;
    }
    const bool first = clock_.monotonic() - pursuit.since < first_for;
    for (const auto& process : dying) {
        before_us.erase(process.pid);
        const bool may = first && before_us.size() < most_before_us_;
        if (prioritize_(process, may ? ExitPriority::first : ExitPriority::normal)) {
            before_us.insert(process.pid);
        }
    }
}

// One round. True: the kernel says that no process is left, or the cgroup is gone.
bool Reaper::is_over(Pursuit& pursuit) {
    const auto& victim = *pursuit.victim;
    if (victim.surely_empty()) {
        const auto any = victim.populated();
        if (any ? !*any : any.error().kind == ErrorKind::vanished) {
            return true;
        }
    }
    const bool freezes = pursuit.freezes_next();
    std::set<pid_t> before_us;
    const auto after = [&](std::vector<HeldProcess>& held) {
        hasten(pursuit, held, before_us);
        if (!freezes) {
            release_->take_from(held);
        }
    };
    const auto struck = pursuit.strike(clock_, after, rungs_path_);
    if (struck.trouble && struck.trouble->kind == ErrorKind::vanished) {
        return true;
    }
    pursuit.learn_from(struck);
    return pursuit.proved;
}

// For rounds_of(), in another thread.
void Reaper::note(const Pursuit& pursuit) {
    const KillRounds rounds{.rounds = pursuit.rounds, .frozen = pursuit.freezes, .appeared = pursuit.appeared};
    const CgroupId victim = pursuit.victim->id();
    const std::scoped_lock lock(mutex_);
    const auto known =
        std::find_if(rounds_.begin(), rounds_.end(), [&](const auto& entry) { return entry.first == victim; });
    if (known != rounds_.end()) {
        known->second = rounds;
        return;
    }
    if (rounds_.size() >= most_remembered) {
        rounds_.pop_front();
    }
    rounds_.emplace_back(victim, rounds);
}

std::optional<KillRounds> Reaper::rounds_of(CgroupId victim) const {
    const std::scoped_lock lock(mutex_);
    const auto known =
        std::find_if(rounds_.begin(), rounds_.end(), [&](const auto& entry) { return entry.first == victim; });
    return known == rounds_.end() ? std::nullopt : std::optional(known->second);
}

// A round, and when the next one is due. True: there is none, because no process is left.
bool Reaper::pursue(Pursuit& pursuit) {
    const auto begun = clock_.monotonic();
    const bool over = is_over(pursuit);
    note(pursuit);
    if (over) {
        if (pursuit.freezes > 0) {
            sys::log::info(fmt::format("{}: took {} rounds of SIGKILL, {} of them under the freezer",
                                       pursuit.victim->path(), pursuit.rounds + 1, pursuit.freezes));
        }
        return true;
    }
    const auto now = clock_.monotonic();
    const bool overdue = now - pursuit.since > overdue_after;
    const bool some_left = pursuit.seen && !pursuit.seen->empty();  // an empty list is no process that hangs
    if (overdue && some_left && !std::exchange(pursuit.warned, true)) {
        sys::log::warn(fmt::format("{}: {} processes are left 30 s after SIGKILL: they hang in the kernel",
                                   pursuit.victim->path(), pursuit.seen->size()));
    }
    const Duration rest = (now - begun) * (pursuit.evades ? 1 : rest_per_work);
    pursuit.pause = pursuit.evades ? first_pause : std::min(longest_pause, 2 * pursuit.pause);
    pursuit.due = now + (overdue ? overdue_pause : std::max(rest, pursuit.pause));
    return false;
}

// One pursuit a turn of the loop, whose proof of life would otherwise wait for all of them.
void Reaper::pursue_next() {
    const auto next = std::min_element(pursuits_.begin(), pursuits_.end(),
                                       [](const auto& a, const auto& b) { return a->due < b->due; });
    if (next != pursuits_.end() && pursue(**next)) {
        pursuits_.erase(next);
    }
    arm();
}

// For the pursuit that is due first. One timer for all, made before there is a victim: a pursuit takes no descriptor,
// and none is given up for want of one.
void Reaper::arm() {
    std::optional<MonotonicTime> due;
    for (const auto& pursuit : pursuits_) {
        due = due ? std::min(*due, pursuit->due) : pursuit->due;
    }
    (void)lane_->arm(timer_, due, [this] { pursue_next(); });
    follow_urgency();
}

void Reaper::follow_urgency() {
    const auto now = clock_.monotonic();
    const bool any =
        std::any_of(pursuits_.begin(), pursuits_.end(), [&](const auto& one) { return one->is_urgent(now); });
    lane_->be_urgent(any ? urgent_priority_ : 0);
}

}  // namespace evictd::act
