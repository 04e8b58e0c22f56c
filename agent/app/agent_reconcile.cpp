// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Hands the Decision, as desired state, to every reconciler: what takes microseconds is done inline, the rest is left
// in the mailbox of a thread, which costs the kill path no more than that. Their outcomes come back for the next look.
#include <algorithm>
#include <utility>

#include "app/agent.hpp"
#include "policy/ladder.hpp"

namespace evictd::app {
namespace {

// The API server ends the pod, without a signal of evictd's.
bool is_without_signal(const DesiredPodStatus& one) { return one.end != PodEnd::failed || one.can_wait; }

}  // namespace

void Agent::reconcile(Tick& tick) {
    tick.shed = parts_.socket_shed.reconcile(tick.decision.shed);
    want_pod_statuses(tick);
    want_node_status(tick.decision.node_status);
    want_rungs(tick.decision.ladder);
    want_disks(tick);
    want_scores(tick);  // before the watcher: the kernel takes its time to attach a program
    watcher_.reconcile(tick.decision.watch, parts_.clock.monotonic());
    watcher_.show_pods(tick.observation, tick.decision.ranking);
}

void Agent::want_rungs(const std::vector<Rung>& rungs) {
    if (!parts_.want_rungs || rungs == wanted_rungs_) {
        return;
    }
    wanted_rungs_ = rungs;
    reconcile::DesiredRungs desired;
    desired.reserve(rungs.size());
    for (const auto& rung : rungs) {
        auto cgroup = table_.cgroup_of(rung.pod);
        if (cgroup && cgroup->id() == rung.cgroup) {
            desired.push_back({rung, std::move(cgroup)});
        }
    }
    parts_.want_rungs(desired);
}

// Whether a look would change which pod is on which rung.
bool Agent::calls_for_rungs(const Observation& observation) const {
    return parts_.want_rungs && policy::climb(options_.eviction, observation, state_).held != state_.ladder.held;
}

void Agent::note_rung(RungOutcome outcome) {
    const bool over = outcome.status != RungStatus::begun;
    rung_outcomes_.push_back(std::move(outcome));
    if (over) {
        tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
    }
}

// Of the attempts that begin with this decision: an agent killed from here on leaves its intents.
void Agent::note_intents(const Tick& tick, const Decision& decision) const {
    if (!parts_.note_intent || tick.dry_run) {
        return;
    }
    for (const auto& desired : decision.pod_statuses) {
        if (desired.decided_at == tick.observation.at && desired.end == PodEnd::failed && !desired.can_wait) {
            parts_.note_intent(desired);
        }
    }
}

// The executor asks the cgroup before each signal. What the API server would end without one is asked here, in the same
// way: a cgroup that cannot be read is assumed to be evictd's own.
bool Agent::is_own(const Tick& tick, const DesiredPodStatus& one) const {
    if (is_without_signal(one)) {
        const auto cgroup = table_.cgroup_of(one.pod);
        return cgroup && cgroup->holds_us().value_or(true);
    }
    return std::any_of(tick.outcomes.begin(), tick.outcomes.end(), [&](const Outcome& outcome) {
        return outcome.action.pod == one.pod && outcome.status == OutcomeStatus::refused;
    });
}

// All but those of pods that evictd itself runs in.
void Agent::want_pod_statuses(const Tick& tick) {
    if (!parts_.want_pod_statuses) {
        return;
    }
    auto desired = tick.decision.pod_statuses;
    std::erase_if(desired, [&](const DesiredPodStatus& one) {
        if (!is_own(tick, one)) {
            return false;
        }
        if (is_without_signal(one)) {
            pod_status_outcomes_.push_back({.pod = one.pod,
                                            .attempt = one.attempt,
                                            .end = one.end,
                                            .result = PodStatusResult::rejected,
                                            .sent_at = {},
                                            .answered_at = {},
                                            .error = "it was not sent: evictd itself runs in this pod"});
        } else if (parts_.drop_intent) {
            parts_.drop_intent(one);  // noted before it was known
        }
        return true;
    });
    if (desired == wanted_pod_statuses_) {
        return;
    }
    wanted_pod_statuses_ = std::move(desired);
    parts_.want_pod_statuses(wanted_pod_statuses_);
}

void Agent::want_node_status(const std::optional<DesiredNodeStatus>& desired) {
    if (!parts_.want_node_status || !desired || desired == wanted_node_status_) {
        return;
    }
    wanted_node_status_ = desired;
    parts_.want_node_status(*desired);
}

void Agent::note_pod_status(PodStatusOutcome outcome) {
    pod_status_outcomes_.push_back(std::move(outcome));
    tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
}

void Agent::note_logind(LogindView view) {
    const auto before = std::exchange(logind_, view);
    if (!before || before->shuts_down != view.shuts_down || before->current != view.current) {
        tick(Cause{.kind = CauseKind::requested, .event = {}, .detected_at = parts_.clock.monotonic()});
    }
}

void Agent::recall(std::vector<DesiredPodStatus> intents) { recalled_ = std::move(intents); }

// Every pod is looked at when the pods have changed and after each period; another pod is steered to at once.
void Agent::want_scores(const Tick& tick) {
    auto& desired = desired_scores_;
    const bool steers = tick.decision.steer_to != desired.steer_to;
    desired.steer_to = tick.decision.steer_to;
    if (steers || !desired.steer_to) {
        rehearsed_for_ = desired.steer_to;  // a rehearsal that sees memory near a line again calls for a look again
    }
    const auto kind = tick.observation.cause.kind;
    const auto look_period = options_.eviction.look_period;
    const auto period = score_reports_lost_ ? look_period : std::max(look_period, options_.score_period);
    const bool is_due = kind == CauseKind::started || last_look_ - scores_looked_at_ >= period;
    auto kept = is_due || kind == CauseKind::pods_changed
                    ? kept_pods(tick.observation.readings[static_cast<std::size_t>(Signal::memory_available)])
                    : nullptr;
    // A source that is asked again and again tells of the same pods each time.
    const bool looks = kept && (is_due || !desired.pods || kept->pods != desired.pods->pods);
    if (!parts_.want_scores || (!steers && !looks)) {
        return;
    }
    if (looks) {
        scores_looked_at_ = last_look_;
        score_reports_lost_ = false;
        desired.pods = std::move(kept);
    }
    const bool raises = steers && desired.steer_to;  // putting back has time
    parts_.want_scores(desired, raises ? reconcile::Urgency::at_once : reconcile::Urgency::can_wait);
}

std::shared_ptr<const reconcile::KeptPods> Agent::kept_pods(const std::optional<Reading>& node) const {
    reconcile::KeptPods kept{.pods = {}, .node_memory = Bytes{node ? node->capacity.value : 0}};
    kept.pods.reserve(table_.rows().size());
    for (const auto& row : table_.rows()) {
        if (row.cgroup) {
            kept.pods.push_back({row.pod, row.cgroup});
        }
    }
    return std::make_shared<const reconcile::KeptPods>(std::move(kept));
}

// A pod that is new, or that has its first process.
void Agent::expect_scores(const CgroupLife& life) {
    const auto uid = table_.uid_of(life.cgroup);
    const bool begins = life.change == CgroupChange::made || life.change == CgroupChange::populated;
    if (!parts_.expect_scores || !begins || !uid) {
        return;
    }
    auto pod = table_.pod(*uid);
    auto cgroup = table_.cgroup_of(*uid);
    if (pod && cgroup) {
        parts_.expect_scores({std::move(pod), std::move(cgroup)});
    }
}

void Agent::check_scores(const OomScoreChanged& changed) {
    const auto uid = table_.uid_of(changed.pod_cgroup);
    if (parts_.check_scores && uid) {
        parts_.check_scores(*uid);
    }
}

}  // namespace evictd::app
