// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When the agent looks again: its one timer.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "app/rehearsal.hpp"
#include "policy/stall_lines.hpp"
#include "policy/watch.hpp"
#include "policy/watermarks.hpp"

namespace evictd::app {
namespace {

// The kernel reports a crossing, our own look a moment later finds none: the value is flapping. Look again before it
// can move far (a hog at full speed takes 10 MiB in that time). With a pod that is counted as a whole our own look
// makes the kernel add up its counters, which the timer then sees too: it is as rare as under pressure.
constexpr Duration look_when_disagreeing = std::chrono::milliseconds(5);
// A threshold stays met and no event is due: nobody could be evicted, or it was not enough. The kubelet waits 10 s
// here.
constexpr Duration look_under_pressure = std::chrono::milliseconds(100);
// A line is near: what the CPU's caches hold of the kill path after this long is most of it. But no more than a
// fiftieth of a CPU, however long the node stays there.
constexpr Duration rehearse_when_near = std::chrono::milliseconds(10);
constexpr int near_share = 50;
// As often as under pressure: a real look is published, a rehearsal is not.
constexpr Duration look_for_another_first = look_under_pressure;
// A victim may have ended before the kernel was asked to tell of it.
constexpr Duration look_after_asking = std::chrono::milliseconds(5);
// For people who watch: as often as a screen is worth redrawing.
constexpr Duration look_for_readers = std::chrono::milliseconds(20);

}  // namespace

// A reader who asks right after a look gets the next one, not an old one: it comes as soon as it may.
void Agent::request_look() {
    const auto now = parts_.clock.monotonic();
    const auto earliest = last_look_ + std::max(look_for_readers, pace_.pause());
    if (now >= earliest) {
        tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = now});
    } else if (earliest < next_look_) {
        next_look_ = earliest;
        arm_timer();
    }
}

// Files that change wake us as often as pods like. Where looks are timed, the next one is soon.
bool Agent::put_off(const KernelEvent& cause) {
    const bool timed = parts_.events.look_within(Bytes{0}).has_value();
    if (!timed || !std::holds_alternative<StallTriggered>(cause.kind)) {
        return false;
    }
    const auto now = parts_.clock.monotonic();
    const auto earliest = last_look_ + pace_.urgent_pause();
    if (now >= earliest) {
        return false;
    }
    next_look_ = std::min(next_look_, earliest);
    arm_timer();
    return true;
}

void Agent::arm_timer() {
    timer_.arm(std::min(next_look_, next_rehearsal_));
    timer_armed_ = true;
}

// A look for practice: the eviction is played through over what is there now, nothing is decided, told or remembered.
// The real one then finds the way in the CPU's caches. Where rungs would change, or another pod would be first than the
// kernel is steered to, it is a real look: no more often than need be, because pods of one size take turns.
void Agent::get_ready() {
    const auto begin = parts_.clock.monotonic();
    auto observation = look(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = begin}, {},
                            /*memory_returning=*/false, observe::LookFor::practice);
    const bool near = policy::is_near(watcher_.lines(), observation.readings);
    const bool rungs = calls_for_rungs(observation);
    const auto first = rehearse_over(std::move(observation));
    const auto steer_to = near ? first : std::nullopt;
    const bool steers = steer_to != practised_for_;
    if (rungs || (steers && begin >= practise_for_another_at_)) {
        practised_for_ = steer_to;
        practise_for_another_at_ = begin + look_for_another_first;
        tick(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = begin});
        return;
    }
    const auto now = parts_.clock.monotonic();
    const auto again = steers ? practise_for_another_at_ : MonotonicTime::max();
    next_rehearsal_ = near ? now + std::max(rehearse_when_near, near_share * (now - begin)) : again;
    arm_timer();
}

std::optional<PodUid> Agent::rehearse_over(Observation observation) {
    auto first = rehearse(options_.eviction, std::move(observation), parts_.clock,
                          [this](const Action& action) { return cgroup_for(action); });
    rehearsed_ = first.has_value();
    return first;
}

// Whether the kernel's last word on some line is that it is crossed, and our own look says it is not.
bool Agent::disagrees(const Readings& readings) const {
    return std::any_of(watcher_.under().begin(), watcher_.under().end(), [&](const Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        return reading && reading->available.value >= line.threshold.value;
    });
}

// A crossing was reported, and the look for it could not read its signal: out of descriptors, as a rule.
bool Agent::is_blind(const Readings& readings) const {
    return std::any_of(watcher_.under().begin(), watcher_.under().end(),
                       [&](const Watermark& line) { return !readings[static_cast<std::size_t>(line.signal)]; });
}

std::optional<Duration> Agent::look_soon(const Tick& tick) {
    const auto& decision = tick.decision;
    if (const auto timed = parts_.events.look_within(Bytes{0})) {
        const auto distance = policy::nearest(watcher_.lines(), tick.observation.readings);
        const auto wanted =
            decision.in_flight.empty() && distance ? parts_.events.look_within(*distance).value_or(*timed) : *timed;
        return pace_.timed_pause(wanted, policy::next_below(watcher_.lines(), tick.observation.readings));
    }
    if (disagrees(tick.observation.readings)) {
        return parts_.observer.counts_whole() ? look_under_pressure : look_when_disagreeing;
    }
    if (is_blind(tick.observation.readings)) {
        return look_after_a_failed_one;
    }
    const bool met = !decision.thresholds_met.empty() || !decision.thresholds_pending.empty() ||
                     !decision.stalls_met.empty() || !decision.stalls_pending.empty();
    return met ? std::optional(look_under_pressure) : std::nullopt;
}

void Agent::schedule(const Tick& tick) {
    const auto now = parts_.clock.monotonic();
    const auto& decision = tick.decision;
    pressure_ = policy::under_pressure(decision);
    MonotonicTime next = now + options_.look_period;
    if (const auto soon = look_soon(tick)) {
        next = std::min(next, now + *soon);
    }
    if (const auto soon = policy::look_for_stalls(options_.eviction, parts_.events.watches_stalls())) {
        next = std::min(next, now + *soon);
    }
    if (!all_listed_ && root_) {
        next = std::min(next, std::max(list_again_at_, now));
    }
    if (!claim_refused_.empty()) {
        next = std::min(next, std::max(claim_again_at_, now));
    }
    const bool timed = parts_.events.look_within(Bytes{0}).has_value();
    if (decision.look_again_at) {
        const auto earliest = timed ? now + pace_.pause() : now;
        next = std::min(next, std::max(*decision.look_again_at, earliest));
    }
    const bool near = policy::is_near(watcher_.lines(), tick.observation.readings);
    if (exits_just_asked_ && pressure_) {
        next = std::min(next, now + look_after_asking);
    }
    next_look_ = next;
    // Where looks are timed, so many of them are practice enough, and one more after each would double what they cost.
    next_rehearsal_ = !pressure_ && near && !timed ? now + rehearse_when_near : MonotonicTime::max();
    arm_timer();
}

}  // namespace evictd::app
