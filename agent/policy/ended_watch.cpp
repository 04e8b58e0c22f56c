// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The protocol was measured on kubelets 1.20 and 1.36: a pod whose processes are all killed while one PATCH sets phase
// Failed and a new annotation value stays dead; where the phase or a process comes back, both again; the phase alone,
// while something runs, is a lie.
#include "ended_watch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "moments.hpp"
#include "qos.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// Of one that comes back. The kubelet's own back-off between restarts is 10 s, then doubles: the sixth comes after five
// minutes.
constexpr std::int32_t most_restarts = 5;
constexpr std::int32_t most_corrections = 5;
// A phase that was accepted has reached the pods' source by then.
constexpr Duration shown_within = 3s;
constexpr Duration first_back_off = 1s;
// Shorter than is_ending_again() waits: others are not evicted for what a pod that is held down takes.
constexpr Duration longest_back_off = 20s;
// The kubelet gives a container 2 s beyond its grace period, and needs some time itself.
constexpr Duration kubelet_margin = 10s;
// A pod that could not be stopped is left alone for so long.
constexpr Duration rest_after_giving_up = 10min;
// An intent that is older is resumed no more: the node has long been relieved in other ways.
constexpr Duration longest_intent = 10min;

bool is_final(const Pod& pod) { return pod.phase == PodPhase::failed || pod.phase == PodPhase::succeeded; }

// One pod at this look.
class Watch {
public:
    Watch(EndedPod& ended, const Observation& observation, State& state, Decision& decision)
        : ended_(ended), observation_(observation), state_(state), decision_(decision), now_(observation.at) {
        for (const auto& one : observation.pods) {
            if (one.pod && one.pod->uid == ended.desired.pod) observed_ = &one;
        }
        for (auto& flight : state.in_flight) {
            if (flight.victim.pod == ended.desired.pod) flight_ = &flight;
        }
    }

    void take(const PodStatusOutcome& outcome) {
        if (outcome.attempt != ended_.desired.attempt && outcome.result != PodStatusResult::gone) return;
        switch (outcome.result) {
            case PodStatusResult::accepted:
                return note_accepted(outcome);
            case PodStatusResult::gone:
                note_answer(outcome);
                return ended_.stage == EndStage::asking ? grant() : finish();
            case PodStatusResult::refused:
                return note_refused(outcome);
            case PodStatusResult::rejected:
                note_answer(outcome);
                say(EndStepKind::rejected, outcome);
                if (ended_.stage == EndStage::asking) terminate();
                if (ended_.stage == EndStage::given_up) finish();
                return;
            case PodStatusResult::unreachable:
                ended_.undelivered = true;
                return say(EndStepKind::unreachable, outcome);
            case PodStatusResult::pretended:
                note_answer(outcome);
                ended_.dry_run = true;
                return ended_.stage == EndStage::asking ? terminate() : finish();
        }
    }

    void follow() {
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

    [[nodiscard]] bool is_listed() const { return observed_ != nullptr; }

private:
    void say(EndStepKind kind) {
        decision_.end_steps.push_back({kind, ended_.desired, now_, ended_.detected_at, {}, ended_.restarts, {}});
    }
    void say(EndStepKind kind, const PodStatusOutcome& outcome) {
        const auto at = outcome.answered_at == MonotonicTime{} ? now_ : outcome.answered_at;
        decision_.end_steps.push_back(
            {kind, ended_.desired, at, ended_.detected_at, outcome.sent_at, ended_.restarts, outcome.error});
    }

    void finish() {
        ended_.stage = EndStage::over;
        ended_.act_at = {};
    }

    void note_answer(const PodStatusOutcome& outcome) {
        ended_.answered = outcome.attempt;
        ended_.answered_at = outcome.answered_at;
        ended_.accepted = outcome.result == PodStatusResult::accepted;
    }

    void note_accepted(const PodStatusOutcome& outcome) {
        note_answer(outcome);
        say(EndStepKind::accepted, outcome);
        if (ended_.stage == EndStage::asking) return grant();
        if (ended_.stage == EndStage::given_up) return finish();
        // What came back while the server was away could not know better.
        if (std::exchange(ended_.undelivered, false)) {
            ended_.restarts = 0;
            if (ended_.stage == EndStage::held_down) ended_.stage = EndStage::killed;
            ended_.act_at = {};
        }
    }

    // The kubelet ends it; if it does not, SIGKILL follows.
    void grant() {
        ended_.stage = EndStage::granted;
        ended_.act_at = {};
        if (flight_ == nullptr) return finish();
        flight_->acted_at = now_;
        flight_->victim.kill_at = after(after(now_, flight_->victim.eviction.grace_period), kubelet_margin);
    }

    void note_refused(const PodStatusOutcome& outcome) {
        say(EndStepKind::refused, outcome);
        if (ended_.stage != EndStage::asking) return;
        ended_.back_off = std::max(first_back_off, 2 * ended_.back_off);
        ended_.act_at = after(now_, std::max(outcome.retry_after, ended_.back_off));
    }

    void follow_asking() {
        if (flight_ == nullptr) return finish();
        const bool refused = ended_.act_at != MonotonicTime{};
        const bool silent = !refused && now_ >= after(ended_.desired.decided_at, longest_unanswered);
        if (silent || now_ >= after(ended_.begun_at, longest_asking)) return terminate();
        if (!refused || now_ < ended_.act_at) return;
        ended_.desired.attempt += 1;
        ended_.desired.decided_at = now_;
        ended_.act_at = {};
    }

    // The API server does not end it: SIGTERM, and SIGKILL at the end of the grace period, as without one.
    void terminate() {
        if (flight_ == nullptr) return finish();
        ended_.stage = EndStage::terminating;
        ended_.act_at = {};
        flight_->acted_at = now_;
        flight_->victim.kill_at = after(now_, flight_->victim.eviction.grace_period);
        decision_.actions.push_back(
            {ActionKind::terminate, flight_->victim.pod, flight_->victim.pod_name, flight_->cgroup});
    }

    // It was reported: the pod may be chosen again.
    [[nodiscard]] bool has_failed() const {
        return std::any_of(decision_.finished.begin(), decision_.finished.end(),
                           [&](const Victim& victim) { return victim.pod == ended_.desired.pod && victim.failed; });
    }

    // It ended by itself within its grace period: the kubelet would start it again.
    void follow_terminating() {
        if (flight_ != nullptr) return;
        if (has_failed() || ended_.dry_run) return finish();
        begin_attempt(now_, ended_.cgroup, ended_);
        ended_.emptied = true;
    }

    [[nodiscard]] bool runs() const {
        return observed_ != nullptr && observed_->populated && !observation_.usage_unknown;
    }
    [[nodiscard]] bool may_be_killed() const {
        return observed_->pod->origin == PodOrigin::api && !is_critical_pod(*observed_->pod);
    }
    [[nodiscard]] bool was_empty_since() const {
        return observed_->emptied_at && *observed_->emptied_at > ended_.killed_at;
    }
    // Processes that were not there when it was killed.
    [[nodiscard]] bool runs_again() const { return runs() && may_be_killed() && (ended_.emptied || is_new()); }
    [[nodiscard]] bool is_answered() const { return ended_.answered == ended_.desired.attempt; }

    void note_what_is_seen() {
        if (observed_ == nullptr) return;
        const bool same = observed_->cgroup == ended_.cgroup;
        const bool removed = observed_->cgroup == CgroupId{} && !observation_.pods_unlisted;
        const bool recalled = ended_.cgroup == CgroupId{};
        if (!observed_->populated && !observation_.usage_unknown && (same || removed || recalled)) {
            ended_.emptied = true;
            ended_.cgroup = observed_->cgroup;
        }
        if (is_final(*observed_->pod)) ended_.seen_ended = true;
    }

    // The source is newer than the answer once it has shown the phase, or after a while.
    [[nodiscard]] bool went_back() {
        if (observed_ == nullptr || is_final(*observed_->pod) || !is_answered() || !ended_.accepted) return false;
        if (ended_.seen_ended) return true;
        if (now_ < after(ended_.answered_at, shown_within) || ended_.awaited_long) return false;
        ended_.awaited_long = true;
        return true;
    }

    void kill_again(EndStepKind why) {
        const DesiredPodStatus& desired = ended_.desired;
        if (observed_ != nullptr && observed_->cgroup != CgroupId{} && may_be_killed()) {
            decision_.actions.push_back(
                {ActionKind::kill, desired.pod, observed_->pod->full_name(), observed_->cgroup});
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

    void follow_killed() {
        if (flight_ != nullptr) return;  // its first kill is followed as a victim's
        if (has_failed()) return finish();
        const bool is_recalled = ended_.cgroup == CgroupId{} && ended_.restarts == 0;
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
        if (went_back() && ended_.corrections < most_corrections) return kill_again(EndStepKind::went_back);
        if (is_answered() && !runs() && now_ >= watched_until(ended_)) {
            say(EndStepKind::stayed_ended);
            finish();
        }
    }

    // While the node is under pressure it must not run; afterwards, if the API server knows of it and the kubelet runs
    // it all the same, more kills would only be noise.
    void hold_down() {
        note_what_is_seen();
        if (runs()) ended_.emptied = false;
        if (!state_.conditions.empty()) {
            if (!runs() || (now_ < ended_.act_at && !(is_hard_met() && is_new()))) return;
            kill_again(EndStepKind::restarted);
            ended_.stage = EndStage::held_down;
            ended_.back_off = std::clamp<Duration>(2 * ended_.back_off, first_back_off, longest_back_off);
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
    [[nodiscard]] bool is_new() const { return was_empty_since() || observed_->cgroup != ended_.cgroup; }
    // At the last look: under pressure that is some milliseconds ago.
    [[nodiscard]] bool is_hard_met() const {
        return std::any_of(state_.thresholds_met.begin(), state_.thresholds_met.end(),
                           [](const Threshold& threshold) { return threshold.hard(); });
    }

    // Whoever reads the condition must not take the pod for one that is on its way out.
    void give_up() {
        ended_.stage = EndStage::given_up;
        ended_.desired.given_up = true;
        ended_.desired.attempt += 1;
        ended_.desired.decided_at = now_;
        say(EndStepKind::given_up);
        if (observed_ == nullptr) return;
        state_.passed_over.push_back(
            {ended_.desired.pod, observed_->cgroup, after(now_, rest_after_giving_up), /*failures=*/1});
    }

    EndedPod& ended_;
    const Observation& observation_;
    State& state_;
    Decision& decision_;
    MonotonicTime now_;
    const ObservedPod* observed_ = nullptr;
    InFlight* flight_ = nullptr;
};

// Of an agent before this one. One that is later than now is of another boot: its pods are others.
void adopt(const Observation& observation, State& state) {
    for (const auto& intent : observation.recalled) {
        const auto is_it = [&](const EndedPod& ended) { return ended.desired.pod == intent.pod; };
        const bool known = std::any_of(state.ended.begin(), state.ended.end(), is_it);
        const bool stale = intent.decided_at > observation.at || observation.at - intent.decided_at > longest_intent;
        if (known || stale || intent.end != PodEnd::failed) continue;
        state.ended.push_back({.desired = intent,
                               .stage = intent.given_up ? EndStage::given_up : EndStage::killed,
                               .cgroup = {},
                               .begun_at = intent.decided_at,
                               .killed_at = observation.at});
    }
}

}  // namespace

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
    ended.act_at = {};
}

MonotonicTime watched_until(const EndedPod& ended) {
    return after(std::max(ended.killed_at, ended.answered_at), watch_period);
}

void follow_ended(const EvictionConfig& config, const Observation& observation, State& state, Decision& decision) {
    if (!config.pod_statuses) {
        state.ended.clear();
        return;
    }
    adopt(observation, state);
    std::vector<EndedPod> ended = std::move(state.ended);
    state.ended.clear();
    for (auto& one : ended) {
        Watch watch(one, observation, state, decision);
        for (const auto& outcome : observation.pod_statuses) {
            if (outcome.pod == one.desired.pod) watch.take(outcome);
        }
        watch.follow();
        if (one.stage != EndStage::over || watch.is_listed()) state.ended.push_back(std::move(one));
    }
}

}  // namespace evictd::policy
