// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One ended pod at one look: an attempt to end it, what came of it, and until when it is watched. Part of ended_pods.
#pragma once

#include "ended_pods.hpp"

namespace evictd::policy {

// SIGKILL is decided at this look, and the API server is to show the pod as failed: a new request.
void begin_attempt(MonotonicTime now, CgroupId cgroup, EndedPod& ended);

// When nothing more is expected of it, if nothing happens before and the pods are up to date.
[[nodiscard]] MonotonicTime watched_until(const EndedPod& ended);

class EndedWatch {
public:
    // All must outlive it. `state` is still that of the look before, but for the victims.
    EndedWatch(EndedPod& ended, const Observation& observation, State& state, Decision& decision);

    // An answer of the API server (ended_answers.cpp); then follow(), once.
    void take(const PodStatusOutcome& outcome);
    void follow();

    [[nodiscard]] bool is_listed() const { return observed_ != nullptr; }

private:
    // What happened, for people and tools.
    void say(EndStepKind kind);
    void say(EndStepKind kind, const PodStatusOutcome& outcome);
    void finish();
    // It was reported that no signal reached it: the pod may be chosen again.
    [[nodiscard]] bool has_failed() const;
    [[nodiscard]] bool is_answered() const { return ended_.answered == ended_.desired.attempt; }

    // Answers, and what waits for one.
    void note_answer(const PodStatusOutcome& outcome);
    void note_accepted(const PodStatusOutcome& outcome);
    void note_refused(const PodStatusOutcome& outcome);
    void grant();
    void follow_asking();
    void stop_asking();
    void terminate();
    void follow_terminating();
    [[nodiscard]] bool is_still_met() const;
    [[nodiscard]] bool may_still_evict() const;

    // Killed, and watched.
    void follow_killed();
    void hold_down();
    void kill_again(EndStepKind why);
    void give_up();
    void note_what_is_seen();
    [[nodiscard]] bool runs() const;
    [[nodiscard]] bool runs_again() const;
    [[nodiscard]] bool may_be_killed() const;
    [[nodiscard]] bool is_new() const;
    void note_whether_current();
    [[nodiscard]] bool is_long_current() const;
    [[nodiscard]] bool went_back() const;
    [[nodiscard]] bool has_settled() const;
    void settle();
    [[nodiscard]] bool is_hard_met() const;

    EndedPod& ended_;
    const Observation& observation_;
    State& state_;
    Decision& decision_;
    MonotonicTime now_;
    const ObservedPod* observed_ = nullptr;
    InFlight* flight_ = nullptr;
};

}  // namespace evictd::policy
