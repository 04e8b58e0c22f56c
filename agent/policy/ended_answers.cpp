// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the API server answered, and what waits for its answer: a soft eviction asks the Eviction API before anything is
// signalled.
#include <algorithm>
#include <utility>

#include "ended_watch.hpp"
#include "moments.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

constexpr Duration first_back_off = 1s;
// The kubelet gives a container 2 s beyond its grace period, and needs some time itself.
constexpr Duration kubelet_margin = 10s;

}  // namespace

void EndedWatch::take(const PodStatusOutcome& outcome) {
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
            if (ended_.stage == EndStage::asking) stop_asking();
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

void EndedWatch::note_answer(const PodStatusOutcome& outcome) {
    ended_.answered = outcome.attempt;
    ended_.answered_at = outcome.answered_at;
    ended_.accepted = outcome.result == PodStatusResult::accepted;
}

void EndedWatch::note_accepted(const PodStatusOutcome& outcome) {
    note_answer(outcome);
    say(EndStepKind::accepted, outcome);
    if (ended_.stage == EndStage::asking) return grant();
    if (ended_.stage == EndStage::given_up) return finish();
    // Restarts while the server was unreachable do not count: the kubelet had not been told.
    if (std::exchange(ended_.undelivered, false)) {
        ended_.restarts = 0;
        if (ended_.stage == EndStage::held_down) ended_.stage = EndStage::killed;
        ended_.act_at = {};
    }
}

// The kubelet ends it; if it does not, SIGKILL follows.
void EndedWatch::grant() {
    ended_.stage = EndStage::granted;
    ended_.act_at = {};
    if (flight_ == nullptr) return finish();
    flight_->acted_at = now_;
    flight_->victim.kill_at = after(after(now_, flight_->victim.eviction.grace_period), kubelet_margin);
}

void EndedWatch::note_refused(const PodStatusOutcome& outcome) {
    say(EndStepKind::refused, outcome);
    if (ended_.stage != EndStage::asking) return;
    ended_.back_off = std::max(first_back_off, 2 * ended_.back_off);
    ended_.act_at = after(now_, std::max(outcome.retry_after, ended_.back_off));
}

void EndedWatch::follow_asking() {
    if (flight_ == nullptr) return finish();
    const bool refused = ended_.act_at != MonotonicTime{};
    const bool silent = !refused && now_ >= after(ended_.desired.decided_at, longest_unanswered);
    const bool too_long = silent || now_ >= after(ended_.begun_at, longest_asking);
    // While a request is under way its answer is awaited: the server may have accepted it.
    if (too_long || (refused && !may_still_evict())) return stop_asking();
    if (!refused || now_ < ended_.act_at) return;
    ended_.desired.attempt += 1;
    ended_.desired.decided_at = now_;
    ended_.act_at = {};
}

// What the eviction is for is met now, and was without a break until the look before. Without a reading that look
// alone counts, which had none either the next time.
bool EndedWatch::is_still_met() const {
    const Eviction& eviction = flight_->victim.eviction;
    if (eviction.broken_limit) return true;
    if (eviction.stall) {
        return std::any_of(state_.first_stalled.begin(), state_.first_stalled.end(), [&](const FirstStalled& one) {
            return one.threshold == eviction.stall->threshold && one.pod == eviction.stall->pod;
        });
    }
    const Threshold& wanted = eviction.threshold.threshold;
    const bool was_met = std::any_of(state_.first_observed.begin(), state_.first_observed.end(),
                                     [&](const FirstObserved& one) { return one.threshold == wanted; });
    const bool is_in_time = wanted.time_left > Duration::zero();  // what it comes to now is not known yet
    const bool is_known = observation_.readings[static_cast<std::size_t>(wanted.signal)].has_value();
    return was_met && (is_in_time || !is_known || is_met(wanted, observation_.readings, MinReclaim::enforced));
}

// While the node shuts down, the kubelet ends the pod.
bool EndedWatch::may_still_evict() const { return decision_.shutdown == ShutdownWord::none && is_still_met(); }

// The API server does not end it. Nothing was signalled: where the pressure is over, the pod lives.
void EndedWatch::stop_asking() {
    if (flight_ == nullptr) return finish();
    if (may_still_evict()) return terminate();
    say(EndStepKind::withdrawn);
    std::erase_if(state_.in_flight, [&](const InFlight& one) { return &one == flight_; });
    flight_ = nullptr;
    finish();
}

// SIGTERM, and SIGKILL at the end of the grace period, as without an API server.
void EndedWatch::terminate() {
    if (flight_ == nullptr) return finish();
    ended_.stage = EndStage::terminating;
    ended_.act_at = {};
    flight_->acted_at = now_;
    flight_->victim.kill_at = after(now_, flight_->victim.eviction.grace_period);
    decision_.actions.push_back(
        {ActionKind::terminate, flight_->victim.pod, flight_->victim.pod_name, flight_->cgroup});
}

// It ended by itself within its grace period: the kubelet would start it again.
void EndedWatch::follow_terminating() {
    if (flight_ != nullptr) return;
    if (has_failed() || ended_.dry_run) return finish();
    begin_attempt(now_, ended_.cgroup, ended_);
    ended_.emptied = true;
}

}  // namespace evictd::policy
