// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent's one timer: when the Decision wants the next look, and what asks for one before.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "app/rehearsal.hpp"
#include "policy/watch.hpp"
#include "policy/watermarks.hpp"

namespace evictd::app {
namespace {

// After a kill the freed pages sit in per-CPU lists this long before MemFree counts them (3 s measured on 6.18).
constexpr Duration memory_returns_within = std::chrono::seconds(5);

// Looks that rehearsals call for come as often as under pressure: a look is published, a rehearsal is not.
constexpr Duration between_called_looks = std::chrono::milliseconds(100);
// For people who watch: as often as a screen is worth redrawing.
constexpr Duration look_for_readers = std::chrono::milliseconds(20);

}  // namespace

// The next look is no later, and has this cause. Of several causes the first is kept.
void Agent::put_off(Cause cause, MonotonicTime until) {
    if (until < next_look_) {
        next_look_ = until;
        arm_timer();
    }
    if (!put_off_) {
        put_off_ = std::move(cause);
    }
}

// A reader gets a look of its own, not an old one. Readers wait for each other only: the first `evictd status` comes
// right after the looks of a start.
void Agent::request_look() {
    reader_waits_ = true;
    const auto now = parts_.clock.monotonic();
    const auto earliest = std::max(last_read_ + look_for_readers, last_look_ + pace_.pause());
    Cause cause{.kind = CauseKind::requested, .event = {}, .detected_at = now};
    if (now >= earliest) {
        tick(std::move(cause));
    } else {
        put_off(std::move(cause), earliest);
    }
}

// Files that change wake us as often as pods like. Where looks are timed, the next one is soon.
bool Agent::put_off(const KernelEvent& event, MonotonicTime detected_at) {
    const bool timed = parts_.events.timed_looks().has_value();
    if (!timed || !std::holds_alternative<StallTriggered>(event.kind)) {
        return false;
    }
    const auto earliest = last_look_ + pace_.urgent_pause();
    if (parts_.clock.monotonic() >= earliest) {
        return false;
    }
    put_off({.kind = CauseKind::kernel_event, .event = event, .detected_at = detected_at}, earliest);
    return true;
}

observe::NodeNeed Agent::node_need() const {
    return {
        .decides_below = policy::node_memory_decides_below(options_.eviction, capacity_of(Signal::memory_available)),
        .memory_returning = pace_.killed_within(memory_returns_within)};
}

void Agent::arm_timer() {
    timer_.arm(std::min(next_look_, next_rehearsal_));
    timer_armed_ = true;
}

// A line came near. Pods can make one come near as often as they like.
void Agent::on_approach() {
    const auto now = parts_.clock.monotonic();
    const auto at = rehearsal_pace_.at_approach(now);
    if (at <= now) {
        (void)get_ready();  // the loop dispatches pending events
    } else if (at < next_rehearsal_) {
        next_rehearsal_ = at;
        arm_timer();
    }
}

// Rehearses an eviction with the current figures. Nothing is decided, published or remembered. The real one then finds
// the way in the CPU's caches. Where rungs would change, or another pod would be first than the kernel is steered to,
// a real look follows, but not often: pods of one size take turns, and memory moves on until the look reads it. A
// rehearsal gives way to an event, but not twice in a row: pods can cause as many as they like. Returns whether there
// are events to drain.
bool Agent::get_ready() {
    const auto begin = parts_.clock.monotonic();
    const auto charge = [this, begin, cpu = parts_.clock.thread_cpu()] {
        const auto now = parts_.clock.monotonic();
        rehearsal_pace_.charge(parts_.clock.thread_cpu() - cpu, now - begin, now);
    };
    auto observation =
        look(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = begin}, {}, {}, observe::LookFor::rehearsal);
    add_pids(observation);
    const bool near = policy::is_near(watcher_.lines(), observation.readings);
    const auto distance = near ? policy::next_below(watcher_.lines(), observation.readings) : std::nullopt;
    rehearsal_pace_.note(distance, observation.at);
    rehearsal_cut_ = !rehearsal_cut_ && parts_.events.await(begin);
    if (rehearsal_cut_) {
        charge();
        // If no line is near any more, as for an approach: scores may be raised.
        return rehearse_again(distance, rehearsal_pace_.at_approach(begin));
    }
    const bool rungs = calls_for_rungs(observation);
    const auto first = rehearse_over(std::move(observation));
    charge();
    const auto steer_to = near ? first : std::nullopt;
    if (!rungs && steer_to == rehearsed_for_) {
        return rehearse_again(distance, MonotonicTime::max());
    }
    if (begin < may_call_for_look_at_) {
        return rehearse_again(distance, may_call_for_look_at_);
    }
    rehearsed_for_ = steer_to;
    may_call_for_look_at_ = begin + between_called_looks;
    tick(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = begin});
    return false;
}

// `distance`: to the line that is near; where none is, the next rehearsal comes at `otherwise`.
bool Agent::rehearse_again(std::optional<Bytes> distance, MonotonicTime otherwise) {
    const auto now = parts_.clock.monotonic();
    next_rehearsal_ = distance ? now + rehearsal_pace_.pause(now) : otherwise;
    arm_timer();
    const auto awake_until = std::min({rehearsal_pace_.awake_until(now), next_look_, next_rehearsal_});
    if (!distance || awake_until <= now) {
        return false;
    }
    const bool is_told = parts_.events.await(awake_until);
    const auto then = parts_.clock.monotonic();
    rehearsal_pace_.charge_awake(then - now, then);
    return is_told;
}

std::optional<PodUid> Agent::rehearse_over(Observation observation) {
    auto first = rehearse(options_.eviction, std::move(observation), parts_.clock,
                          [this](const Action& action) { return cgroup_for(action); });
    rehearsed_ = first.has_value();
    return first;
}

Watching Agent::watching() const {
    Watching watching{.crossed = watcher_.lowest_crossed(),
                      .timed = parts_.events.timed_looks(),
                      .stalls = parts_.events.watches_stalls(),
                      .exits = watcher_.watches_exits(),
                      .counts_whole = parts_.observer.counts_whole()};
    if (root_ && !all_listed_) {
        watching.list_again_at = list_again_at_;
    }
    if (!claim_refused_.empty()) {
        watching.claim_again_at = claim_again_at_;
    }
    return watching;
}

// As the Decision says. Two bounds are the agent's own: the next look comes no sooner than this one took after it was
// taken, so that looks never follow each other without a pause; and where looks are timed, they keep to a share of a
// CPU.
void Agent::schedule(const Tick& tick) {
    const auto now = parts_.clock.monotonic();
    const auto taken_at = tick.observation.at;
    const auto& next = tick.decision.next_look;
    const auto& readings = tick.observation.readings;
    pressure_ = policy::under_pressure(tick.decision);
    next_look_ = std::max(next.at, now + std::min(now - taken_at, next.at - taken_at));
    const bool timed = tick.observation.watching.timed.has_value();
    if (timed) {
        const auto affordable = now + pace_.timed_pause(policy::next_below(watcher_.lines(), readings));
        next_look_ = std::max(next_look_, std::min(affordable, next.latest));
    }
    // Where looks are timed, they come often enough to be the rehearsal; one more after each would double what they
    // cost.
    const bool rehearses = !pressure_ && !timed && policy::is_near(watcher_.lines(), readings);
    rehearsal_pace_.note(rehearses ? policy::next_below(watcher_.lines(), readings) : std::nullopt, taken_at);
    next_rehearsal_ = rehearses ? now + rehearsal_pace_.pause_after_look(now) : MonotonicTime::max();
    arm_timer();
}

}  // namespace evictd::app
