// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The protocol was measured on kubelets 1.20 and 1.36: a pod whose processes are all killed while one PATCH sets phase
// Failed and a new annotation value stays dead; where the phase or a process comes back, both again; the phase alone,
// while something runs, reports a running pod as ended.
#include "ended_watch.hpp"

#include <algorithm>

#include "moments.hpp"
#include "qos.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// Of one that comes back. The kubelet's own back-off between restarts is 10 s, then doubles: the sixth comes after five
// minutes.
constexpr std::int32_t most_restarts = 5;
constexpr std::int32_t most_corrections = 5;
// A phase that was accepted has reached the pods' source by then, if that is up to date. It is called so at the headers
// of a watch, before the events that it missed.
constexpr Duration shown_within = 3s;
// How much longer than watch_period a pod is watched while the pods are out of date. An outage is over by then: an API
// server that answers requests about pods, and lists none for so long, allows one and forbids the other.
constexpr Duration longest_out_of_date = 1h;
constexpr Duration shortest_pause = 1s;
// Shorter than is_ending_again() waits: others are not evicted for what a pod that is held down takes.
constexpr Duration longest_pause = 20s;
// A pod that could not be stopped is left alone for so long.
constexpr Duration rest_after_giving_up = 10min;

}  // namespace

EndedWatch::EndedWatch(EndedPod& ended, const Observation& observation, State& state, Decision& decision)
    : ended_(ended), observation_(observation), state_(state), decision_(decision), now_(observation.at) {
    for (const auto& one : observation.pods) {
        if (one.pod && one.pod->uid == ended.desired.pod) observed_ = &one;
    }
    for (auto& flight : state.in_flight) {
        if (flight.victim.pod == ended.desired.pod) flight_ = &flight;
    }
}

void EndedWatch::follow() {
    switch (ended_.stage) {
        case EndStage::asking:
            return follow_asking();
        case EndStage::granted:
            return flight_ == nullptr ? finish() : void();
        case EndStage::terminating:
            return follow_terminating();
        case EndStage::killed:
            return follow_killed();
        case EndStage::held_down:
            return hold_down();
        case EndStage::given_up:
        case EndStage::over:
            return;
    }
}

void EndedWatch::say(EndStepKind kind) {
    decision_.end_steps.push_back({kind, ended_.desired, now_, {}, ended_.restarts, {}});
}
void EndedWatch::say(EndStepKind kind, const PodStatusOutcome& outcome) {
    const auto at = outcome.answered_at == MonotonicTime{} ? now_ : outcome.answered_at;
    decision_.end_steps.push_back({kind, ended_.desired, at, outcome.sent_at, ended_.restarts, outcome.error});
}

void EndedWatch::finish() {
    ended_.stage = EndStage::over;
    ended_.act_at = {};
}

// It was reported: the pod may be chosen again.
bool EndedWatch::has_failed() const {
    return std::any_of(decision_.finished.begin(), decision_.finished.end(),
                       [&](const Victim& victim) { return victim.pod == ended_.desired.pod && victim.failed; });
}

bool EndedWatch::runs() const { return observed_ != nullptr && observed_->populated && !observation_.usage_unknown; }
bool EndedWatch::may_be_killed() const {
    return observed_->pod->origin == PodOrigin::api && !is_critical_pod(*observed_->pod);
}
// Processes that were not there when it was killed.
bool EndedWatch::runs_again() const { return runs() && may_be_killed() && (ended_.emptied || is_new()); }

void EndedWatch::note_what_is_seen() {
    if (observed_ == nullptr) return;
    const bool same = observed_->cgroup == ended_.cgroup;
    const bool removed = observed_->cgroup == CgroupId{} && !observation_.pods_unlisted;
    const bool recalled = ended_.cgroup == CgroupId{};
    if (!observed_->populated && !observation_.usage_unknown && (same || removed || recalled)) {
        ended_.emptied = true;
        ended_.cgroup = observed_->cgroup;
    }
    if (observation_.pods_current && is_answered() && has_ended(*observed_->pod)) ended_.seen_ended = true;
}

void EndedWatch::note_whether_current() {
    if (!observation_.pods_current || !is_answered()) {
        ended_.current_since = {};
    } else if (ended_.current_since == MonotonicTime{}) {
        ended_.current_since = now_;
    }
}

// What the pods show is newer than the answer. A watch that hangs is called up to date for minutes: what follows from
// it follows ever later.
bool EndedWatch::is_long_current() const {
    return ended_.current_since != MonotonicTime{} &&
           now_ >= after(ended_.current_since, shown_within * (1 << ended_.corrections));
}

// Before the pods have shown the phase, or have been up to date for a while, that they do not show it means nothing.
bool EndedWatch::went_back() const {
    return observed_ != nullptr && !has_ended(*observed_->pod) && is_answered() && ended_.accepted &&
           observation_.pods_current && (ended_.seen_ended || is_long_current());
}

// That nothing runs is not enough: a kubelet that has written its own phase over ours will start it again. A pod that
// is not shown as ended by pods that are long up to date has gone back, which follow_killed() asks first.
bool EndedWatch::has_settled() const {
    const MonotonicTime end = watched_until(ended_);
    if (!is_answered() || runs() || now_ < end) return false;
    const bool is_hopeless = !ended_.accepted || ended_.corrections >= most_corrections;
    return is_hopeless || is_long_current() || now_ >= after(end, longest_out_of_date);
}

void EndedWatch::settle() {
    say(EndStepKind::stayed_ended);
    if (ended_.current_since == MonotonicTime{}) {
        decision_.end_steps.back().error = "it is not known whether the API server shows it as ended";
    } else if (observed_ != nullptr && !has_ended(*observed_->pod)) {
        decision_.end_steps.back().error = "the API server does not show it as ended";
    }
    finish();
}

void EndedWatch::kill_again(EndStepKind why) {
    const DesiredPodStatus& desired = ended_.desired;
    if (observed_ != nullptr && observed_->cgroup != CgroupId{} && may_be_killed()) {
        decision_.actions.push_back({ActionKind::kill, desired.pod, observed_->pod->full_name(), observed_->cgroup});
    }
    begin_attempt(now_, observed_ != nullptr ? observed_->cgroup : ended_.cgroup, ended_);
    if (why == EndStepKind::went_back) {
        ended_.corrections += 1;
        ended_.emptied = !runs();
    } else {
        ended_.restarts += 1;
    }
    say(why);
}

void EndedWatch::follow_killed() {
    if (flight_ != nullptr) return;  // its first kill is followed as a victim's
    if (has_failed()) return finish();
    const bool is_recalled = ended_.cgroup == CgroupId{} && ended_.restarts == 0;
    // No source has listed the pod until now: what runs so much later is not killed for it.
    const bool is_stale = now_ > after(ended_.desired.decided_at, longest_intent);
    if (is_recalled && !ended_.emptied && is_stale) return finish();
    if (runs_again()) {
        if (ended_.restarts < most_restarts)
            return kill_again(is_recalled ? EndStepKind::resumed : EndStepKind::restarted);
        ended_.stage = EndStage::held_down;
        ended_.back_off = {};
        ended_.act_at = {};
        say(EndStepKind::held_down);
        return hold_down();
    }
    note_what_is_seen();
    note_whether_current();
    if (went_back() && ended_.corrections < most_corrections) return kill_again(EndStepKind::went_back);
    if (has_settled()) settle();
}

// While the node is under pressure it must not run; afterwards, if the API server knows of it and the kubelet runs
// it all the same, more kills would only be noise.
void EndedWatch::hold_down() {
    note_what_is_seen();
    if (runs()) ended_.emptied = false;
    if (!state_.conditions.empty()) {
        if (!runs() || (now_ < ended_.act_at && !(is_hard_met() && is_new()))) return;
        kill_again(EndStepKind::restarted);
        ended_.stage = EndStage::held_down;
        ended_.back_off = std::clamp<Duration>(2 * ended_.back_off, shortest_pause, longest_pause);
        ended_.act_at = after(now_, ended_.back_off);
        return;
    }
    ended_.act_at = {};
    // The API server never heard of it. To end it when that is back would be an eviction without pressure, of all
    // such pods of the cluster at the same moment.
    if (!is_answered()) return runs() ? finish() : void();
    if (runs()) return give_up();
    ended_.stage = EndStage::killed;
}

// Processes that came after the last kill.
bool EndedWatch::is_new() const {
    const bool was_empty_since = observed_->emptied_at && *observed_->emptied_at > ended_.killed_at;
    return was_empty_since || observed_->cgroup != ended_.cgroup;
}

// At the last look: under pressure that is some milliseconds ago.
bool EndedWatch::is_hard_met() const {
    return std::any_of(state_.thresholds_met.begin(), state_.thresholds_met.end(),
                       [](const Threshold& threshold) { return threshold.hard(); });
}

// Whoever reads the condition must not take the pod for one that is on its way out.
void EndedWatch::give_up() {
    ended_.stage = EndStage::given_up;
    ended_.desired.given_up = true;
    ended_.desired.attempt += 1;
    ended_.desired.decided_at = now_;
    say(EndStepKind::given_up);
    if (observed_ == nullptr) return;
    state_.passed_over.push_back(
        {ended_.desired.pod, observed_->cgroup, after(now_, rest_after_giving_up), /*failures=*/1});
}

void begin_attempt(MonotonicTime now, CgroupId cgroup, EndedPod& ended) {
    ended.stage = EndStage::killed;
    ended.desired.end = PodEnd::failed;
    ended.desired.grace_period.reset();
    ended.desired.attempt += 1;
    ended.desired.decided_at = now;
    ended.cgroup = cgroup;
    ended.killed_at = now;
    ended.emptied = false;
    ended.seen_ended = false;
    ended.current_since = {};
    ended.act_at = {};
}

MonotonicTime watched_until(const EndedPod& ended) {
    return after(std::max(ended.killed_at, ended.answered_at), watch_period);
}

}  // namespace evictd::policy
