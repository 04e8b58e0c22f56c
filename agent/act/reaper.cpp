// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/reaper.hpp"

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "act/signals.hpp"
#include "act/victim_freeze.hpp"
#include "sys/log.hpp"

namespace evictd::act {
namespace {

// Between two rounds: a killed process needs about 1 ms to go. A longer pause would let a fork bomb grow back, a
// shorter one only burns the CPU that the dying need.
constexpr Duration first_pause = std::chrono::milliseconds(1);
constexpr Duration longest_pause = std::chrono::milliseconds(100);
// A round takes at most a tenth of a CPU, whatever the pod does to its cgroups; against a pod that forks or moves,
// half.
constexpr int rest_per_work = 9;
// As long as the policy waits for a victim (podCleanupTimeout of the kubelet's eviction manager). From then on it is
// looked at now and then, so that it dies when the kernel lets it.
constexpr Duration overdue_after = std::chrono::seconds(30);
constexpr Duration overdue_pause = std::chrono::seconds(5);
// A fork bomb leaves a normal thread no CPU. So long the thread is urgent, and as long as no walk was cut short: a pod
// with cgroups by the thousand keeps it busy for longer than a real-time thread may be.
constexpr Duration urgent_for = std::chrono::seconds(5);
// The thread that frees memory, at 4 GiB a quarter: half a walk more, and it is a quarter below what a real-time thread
// may work.
constexpr Duration release_urgent_for = std::chrono::milliseconds(250);
// The dying exit before normal threads run, from the second round to here: none needs more, unless it hangs.
constexpr Duration first_for = std::chrono::seconds(1);
// What a walk may take: first what `most_frozen_walks` of may take a real-time thread; once one was cut short more,
// doubled while it is not enough. The longest is some 100,000 cgroups; `most_frozen_walks` of them stay below what the
// watchdog takes for a lane that hangs (sys/proof_of_life.hpp).
constexpr Duration first_walk_limit = std::chrono::milliseconds(50);
constexpr Duration second_walk_limit = std::chrono::milliseconds(500);
constexpr Duration longest_walk_limit = std::chrono::seconds(5);
// Walks under the freezer, until one finds no process that the last did not.
constexpr int most_frozen_walks = 8;
// Rounds in which nobody is listed and the kernel still counts tasks. Zombies until they are reaped, as a rule; after
// these (7 ms) the pod is frozen, to see whether they move.
constexpr int rounds_without_anybody = 3;
// Victims whose rounds are kept. There are seldom two.
constexpr std::size_t most_remembered = 32;

std::vector<pid_t> sorted(std::vector<pid_t> pids) {
    std::sort(pids.begin(), pids.end());
    return pids;
}

// Both in ascending order.
bool are_all_in(const std::vector<pid_t>& pids, const std::vector<pid_t>& known) {
    return std::includes(known.begin(), known.end(), pids.begin(), pids.end());
}

}  // namespace

struct Reaper::Pursuit {
    port::PodCgroupPtr victim;
    MonotonicTime since;
    MonotonicTime due;  // the next round
    Duration pause = first_pause;
    Duration walk_limit = first_walk_limit;
    std::optional<std::vector<pid_t>> seen;  // in the last round
    bool evades = false;                     // it may fork, or move its processes
    bool appeared = false;                   // in some round processes were listed that were not before
    bool proved = false;                     // nobody was listed while it was frozen
    bool warned = false;
    bool told_trouble = false;  // of freezing
    int rounds = 0;
    int freezes = 0;
    int empty_rounds = 0;  // in succession

    [[nodiscard]] bool is_urgent(MonotonicTime now) const {
        return walk_limit == first_walk_limit && now - since < urgent_for;
    }
    [[nodiscard]] bool uses_freezer() const { return !victim->can_kill() && victim->can_freeze(); }
    using AfterBatch = std::function<void(std::vector<HeldProcess>&)>;
    [[nodiscard]] Struck strike_once(const sys::Clock& clock, const AfterBatch& after) const;
    [[nodiscard]] Struck strike_frozen(const sys::Clock& clock, const AfterBatch& after,
                                       const std::optional<std::string>& rungs_path);
};

// SIGKILL to everybody once more: what forked away since then gets it now, and for the others it changes nothing.
Struck Reaper::Pursuit::strike_once(const sys::Clock& clock, const AfterBatch& after) const {
    // It may wait for cgroup_mutex. In the first round everybody was struck already, and their memory comes first.
    const bool kills = victim->can_kill();
    if (kills && rounds > 0) {
        (void)victim->kill();
    }
    Struck struck = strike(*victim,
                           {.signal_number = SIGKILL,
                            .listing = rounds > 0 ? port::Listing::thorough : port::Listing::quick,
                            .until = clock.monotonic() + walk_limit,
                            .close_at_once = true,
                            .after_batch = after},
                           clock);
    if (kills && rounds == 0) {
        (void)victim->kill();
    }
    return struck;
}

// Freezing makes every fork() in flight fail or its child start frozen, and nothing moves: what two walks in succession
// list is all there is. Only against those who fork or move, because it also keeps the dying from ending.
Struck Reaper::Pursuit::strike_frozen(const sys::Clock& clock, const AfterBatch& after,
                                      const std::optional<std::string>& rungs_path) {
    const VictimFreeze freeze(*victim, rungs_path);
    if (freeze.trouble().empty()) {
        freezes++;
    } else if (!std::exchange(told_trouble, true)) {
        sys::log::error(victim->path() + ": " + freeze.trouble());
    }
    Struck struck = strike_once(clock, after);
    for (int walk = 1; walk < most_frozen_walks && !struck.trouble && !struck.cut; walk++) {
        const auto known = sorted(std::move(struck.listed));
        struck = strike_once(clock, after);
        if (!struck.moved && are_all_in(sorted(struck.listed), known)) {
            proved = freeze.trouble().empty() && struck.whole() && struck.listed.empty();
            break;
        }
    }
    return struck;
}

Reaper::Reaper(const sys::Clock& clock, std::optional<std::string> rungs_path, int urgent_priority,
               Prioritize prioritize)
    : clock_(clock),
      rungs_path_(std::move(rungs_path)),
      urgent_priority_(urgent_priority),
      prioritize_(std::move(prioritize)) {}
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
        made->arm_release();
    });
    return reaper;
}

void Reaper::follow(port::PodCgroupPtr victim, bool forks) {
    auto begin = [this, forks, victim = std::move(victim)]() mutable {
        release_due_ = release_due_.value_or(clock_.monotonic() + release_urgent_for);
        arm_release();
        const auto same = [&](const auto& pursuit) { return pursuit->victim == victim; };
        if (std::none_of(pursuits_.begin(), pursuits_.end(), same)) {
            auto pursuit = std::make_unique<Pursuit>();
            pursuit->victim = std::move(victim);
            pursuit->since = clock_.monotonic();
            pursuit->evades = forks;
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

// Counted from the first victim of several.
void Reaper::arm_release() {
    (void)lane_->arm(release_timer_, release_due_, [this] {
        release_due_.reset();
        release_->give_way();
    });
}

// Not in the first round: most have exited by the next, and one that exits at once leaves its address space before
// EarlyRelease can share the work.
void Reaper::hasten(const Pursuit& pursuit, const std::vector<HeldProcess>& dying) const {
    if (urgent_priority_ == 0 || pursuit.rounds == 0) {
        return;
    }
    const bool first = clock_.monotonic() - pursuit.since < first_for;
    for (const auto& process : dying) {
        prioritize_(process, first ? ExitPriority::first : ExitPriority::normal);
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
    const bool freezes = pursuit.evades && pursuit.uses_freezer();
    const auto after = [&](std::vector<HeldProcess>& held) {
        hasten(pursuit, held);
        if (!freezes) {
            release_->take_from(held, release_due_.has_value());
        }
    };
    const auto struck =
        freezes ? pursuit.strike_frozen(clock_, after, rungs_path_) : pursuit.strike_once(clock_, after);
    if (struck.trouble && struck.trouble->kind == ErrorKind::vanished) {
        return true;
    }
    if (struck.cut) {
        pursuit.walk_limit = std::clamp(2 * pursuit.walk_limit, second_walk_limit, longest_walk_limit);
    }
    look_for_evasion(pursuit, struck);
    return pursuit.proved;
}

// From a list that is not whole nothing is concluded.
void Reaper::look_for_evasion(Pursuit& pursuit, const Struck& struck) {
    pursuit.rounds++;
    if (struck.trouble || struck.cut) {
        return;
    }
    auto listed = sorted(struck.listed);
    const bool appeared = pursuit.seen && !are_all_in(listed, *pursuit.seen);
    pursuit.empty_rounds = listed.empty() ? pursuit.empty_rounds + 1 : 0;
    const bool hides = pursuit.empty_rounds >= rounds_without_anybody;
    pursuit.evades = appeared || hides;
    pursuit.appeared = pursuit.appeared || appeared;  // a process that is no longer listed may just be exiting
    if (hides && !pursuit.uses_freezer() && !pursuit.victim->can_kill()) {
        pursuit.proved = true;  // v1 without a freezer: there is no better proof
    }
    pursuit.seen = std::move(listed);
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
