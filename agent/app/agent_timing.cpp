// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When the agent looks again: the lines it has the kernel watch, and its one timer.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "app/rehearsal.hpp"
#include "app/stall_lines.hpp"
#include "app/watermarks.hpp"
#include "sys/log.hpp"

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
// After pressure: a node that flaps around a line must not attach and detach all the time.
constexpr Duration exits_linger = std::chrono::seconds(10);
// A victim may have ended before the kernel was asked to tell of it.
constexpr Duration look_after_asking = std::chrono::milliseconds(5);
// Where looks are timed they take a twentieth of a CPU, as the kernel's timer does; half of that while urgent_budget_
// is spent. But no crossing goes unseen for more than a second, which is what there is between two such looks where
// nothing is near; by then a hog at full speed has taken 2 GiB, and files that wake us (usage levels, PSI) have done
// so. And half a CPU for a moment after a kill: another victim may be needed as soon as the last one's memory is back.
constexpr int timed_share = 20;
constexpr Duration longest_pause = std::chrono::seconds(1);
constexpr Duration hurry_after_a_kill = std::chrono::seconds(1);
// For people who watch: as often as a screen is worth redrawing.
constexpr Duration look_for_readers = std::chrono::milliseconds(20);

}  // namespace

// A reader who asks right after a look gets the next one, not an old one: it comes as soon as it may.
void Agent::request_look() {
    const auto now = parts_.clock.monotonic();
    const auto earliest = last_look_ + std::max(look_for_readers, pause_after_look());
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
    urgent_ = urgent_ || urgent_budget_.ready(now);
    const auto earliest = last_look_ + (urgent_ ? look_cost_ : pause_after_look());
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

// Percentages follow the capacity, and a new limit of the pods' cgroup is a new capacity.
void Agent::watch(const Readings& readings) {
    const auto is_unread = [&](const Threshold& threshold) {
        return is_memory(threshold.signal) && !readings[static_cast<std::size_t>(threshold.signal)];
    };
    const auto& thresholds = options_.eviction.thresholds;
    if (!parts_.observer.trouble().empty() && std::any_of(thresholds.begin(), thresholds.end(), is_unread)) {
        return;  // a look that failed is no reason to watch less
    }
    auto wanted = watermarks_for(thresholds, readings);
    const auto same = [](const port::Watermark& a, const port::Watermark& b) {
        return a.signal == b.signal && a.threshold == b.threshold;
    };
    if (std::equal(wanted.begin(), wanted.end(), watermarks_.begin(), watermarks_.end(), same)) {
        return;
    }
    lines_under_.clear();  // every line is compared and told afresh
    if (auto watching = parts_.events.watch(with_approaches(wanted)); !watching) {
        sys::log::error(watching.error().text());
        return;
    }
    watermarks_ = std::move(wanted);
}

// What else of the configuration it watches by. Before the look that follows: an edge that is missed in between is seen
// by it.
void Agent::tell_kernel() {
    if (auto told = parts_.events.count_memory(options_.eviction.memory_available); !told) {
        sys::log::error(told.error().text());
    }
    if (auto watching = parts_.events.watch_stalls(stall_lines_for(options_.eviction)); !watching) {
        sys::log::error(watching.error().text());
    }
}

// A look for practice: the eviction is played through over what is there now, nothing is decided, told or remembered.
// The real one then finds the way in the CPU's caches. Where something can be done before it comes to that, it is a
// real look.
void Agent::get_ready() {
    const auto begin = parts_.clock.monotonic();
    auto observation = look(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = begin}, {},
                            /*memory_returning=*/false, observe::LookFor::practice);
    if (calls_for_rungs(observation)) {
        tick(Cause{.kind = CauseKind::timer, .event = {}, .detected_at = begin});
        return;
    }
    const bool near = is_near(watermarks_, observation.readings);
    const bool close = is_close(watermarks_, observation.readings);
    const auto first = rehearse_over(std::move(observation));
    if (!pressure_ && (near || !close)) {  // once a line is crossed, the decision says who is first
        steer(near ? first : std::nullopt);
    }
    (void)expect_exits(true);  // after steering: the kernel takes its time to attach a program
    const auto now = parts_.clock.monotonic();
    next_rehearsal_ = near ? now + std::max(rehearse_when_near, near_share * (now - begin)) : MonotonicTime::max();
    arm_timer();
}

// The kernel tells of cgroups that empty only while a victim may end soon: all who make and leave cgroups pay for it.
// True if it has just been asked to.
bool Agent::expect_exits(bool soon) {
    const auto now = parts_.clock.monotonic();
    if (soon) {
        exits_until_ = now + exits_linger;
    }
    const bool wanted = now < exits_until_;
    if (wanted == exits_watched_) {
        return false;
    }
    exits_watched_ = wanted;  // also if it is refused: not asked, and said, again with every rehearsal
    if (auto done = parts_.events.watch_exits(wanted); !done) {
        sys::log::error(done.error().text());
        return false;
    }
    return wanted;
}

std::optional<PodUid> Agent::rehearse_over(Observation observation) {
    auto first = rehearse(options_.eviction, std::move(observation), parts_.clock,
                          [this](const Action& action) { return cgroup_for(action); });
    rehearsed_ = first.has_value();
    return first;
}

// Whether the kernel's last word on some line is that it is crossed, and our own look says it is not.
bool Agent::disagrees(const Readings& readings) const {
    return std::any_of(lines_under_.begin(), lines_under_.end(), [&](const port::Watermark& line) {
        const auto& reading = readings[static_cast<std::size_t>(line.signal)];
        return reading && reading->available.value >= line.threshold.value;
    });
}

// A crossing was reported, and the look for it could not read its signal: out of descriptors, as a rule.
bool Agent::is_blind(const Readings& readings) const {
    return std::any_of(lines_under_.begin(), lines_under_.end(),
                       [&](const port::Watermark& line) { return !readings[static_cast<std::size_t>(line.signal)]; });
}

// A timed look reads files, and pods decide how many: never more than half a CPU.
Duration Agent::pause_after_look() const {
    const auto now = parts_.clock.monotonic();
    const bool killed = now - last_kill_ < hurry_after_a_kill;
    const auto affordable =
        urgent_budget_.ready(now) ? timed_share * look_cost_ : 2 * timed_share * std::max(look_cost_, last_cost_);
    return std::max(look_cost_, killed ? Duration::zero() : std::min(affordable, longest_pause));
}

// A look that waited for its CPU says little of what the next one takes: the lesser of two.
void Agent::note_cost(Duration cpu) {
    look_cost_ = std::min(cpu, std::exchange(last_cost_, cpu));
    // What it took more than that is on the account of what is urgent, too: pods may make every other look dear.
    urgent_budget_.charge(std::exchange(urgent_, false) ? cpu : cpu - look_cost_, parts_.clock.monotonic());
}

// When the next timed look is due, `wanted` at the earliest. Where memory falls fast towards the next line, `distance`
// away, it comes as soon as the budget for that allows.
Duration Agent::timed_pause(Duration wanted, std::optional<Bytes> distance) {
    const auto before = std::exchange(last_distance_, distance);
    const bool falls = distance && before && distance->value < before->value / 4 * 3;
    urgent_ = falls && urgent_budget_.ready(parts_.clock.monotonic());
    return std::max(wanted, urgent_ ? look_cost_ : pause_after_look());
}

std::optional<Duration> Agent::look_soon(const Tick& tick) {
    const auto& decision = tick.decision;
    if (const auto timed = parts_.events.look_within(Bytes{0})) {
        const auto distance = nearest(watermarks_, tick.observation.readings);
        const auto wanted =
            decision.in_flight.empty() && distance ? parts_.events.look_within(*distance).value_or(*timed) : *timed;
        return timed_pause(wanted, next_below(watermarks_, tick.observation.readings));
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
    pressure_ = !decision.thresholds_met.empty() || !decision.stalls_met.empty() || !decision.in_flight.empty();
    const auto killed = [](const Outcome& outcome) {
        return outcome.action.kind == ActionKind::kill && outcome.status == OutcomeStatus::delivered;
    };
    if (std::any_of(tick.outcomes.begin(), tick.outcomes.end(), killed)) {
        last_kill_ = now;
    }
    MonotonicTime next = now + options_.look_period;
    if (const auto soon = look_soon(tick)) {
        next = std::min(next, now + *soon);
    }
    if (const auto soon = look_for_stalls(options_.eviction, parts_.events.watches_stalls())) {
        next = std::min(next, now + *soon);
    }
    if (reclaimed_) {
        next = now;  // the look goes on
    }
    if (!all_listed_ && root_) {
        next = std::min(next, std::max(list_again_at_, now));
    }
    if (!claim_refused_.empty()) {
        next = std::min(next, std::max(claim_again_at_, now));
    }
    const bool timed = parts_.events.look_within(Bytes{0}).has_value();
    if (decision.look_again_at) {
        const auto earliest = timed ? now + pause_after_look() : now;
        next = std::min(next, std::max(*decision.look_again_at, earliest));
    }
    const bool near = is_near(watermarks_, tick.observation.readings);
    if (expect_exits(pressure_ || near) && pressure_) {
        next = std::min(next, now + look_after_asking);
    }
    next_look_ = next;
    // Where looks are timed, so many of them are practice enough, and one more after each would double what they cost.
    next_rehearsal_ = !pressure_ && near && !timed ? now + rehearse_when_near : MonotonicTime::max();
    arm_timer();
}

}  // namespace evictd::app
