// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The order of a step: who is gone since the last one, what the node measures now, the look (two where something was
// reclaimed), and then the questions, which change nothing.
#include "replay/player.hpp"

#include <algorithm>

#include "policy/deadline.hpp"
#include "policy/decide.hpp"
#include "policy/memory_available.hpp"

namespace evictd::replay {
namespace {

bool has(const std::vector<PodIndex>& list, PodIndex pod) {
    return std::find(list.begin(), list.end(), pod) != list.end();
}

// An image that only this container used is unused from now on.
void release_image(Runtime& runtime, const std::string& container, WallTime now) {
    const auto& all = runtime.containers;
    const auto gone = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == container; });
    if (gone == all.end() || gone->image_id.empty()) return;
    const auto others = std::count_if(all.begin(), all.end(),
                                      [&](const RuntimeContainer& one) { return one.image_id == gone->image_id; });
    for (RuntimeImage& image : runtime.images) {
        if (image.id != gone->image_id) continue;
        image.last_used = now - Duration(1);  // until the moment of this look
        if (others == 1) image.in_use = false;
    }
}

}  // namespace

std::string pod_name(const Scenario& scenario, PodIndex pod) { return scenario.pods[pod]->full_name(); }

Player::Player(const Scenario& scenario) : scenario_(scenario), signals_(scenario), runtime_(scenario.runtime) {
    residents_.reserve(scenario.pods.size());
    for (const PodPtr& pod : scenario.pods) {
        by_uid_.emplace(pod->uid.value, static_cast<PodIndex>(residents_.size()));
        residents_.push_back({.pod = pod, .figures = {}, .usage = {}});
    }
}

bool Player::is_on_node(PodIndex pod) const {
    const Life life = residents_[pod].life;
    return !scenario_.only_asked[pod] && (life == Life::on_node || life == Life::evicted);
}

// It is no longer there. Who asks about it learns that it failed, as its status says.
void Player::end(Resident& resident, Life life) {
    Pod ended = *resident.pod;
    ended.phase = PodPhase::failed;
    if (life == Life::evicted_and_gone) ended.status_reason = "Evicted";
    resident.pod = make_pod(std::move(ended));
    resident.life = life;
}

void Player::begin(const Step& step) {
    for (PodIndex i = 0; i < residents_.size(); ++i) {
        Resident& resident = residents_[i];
        if (resident.life == Life::evicted && !has(step.stuck, i)) end(resident, Life::evicted_and_gone);
        if (resident.life == Life::on_node && resident.next != Life::on_node) end(resident, resident.next);
    }
    signals_.apply(step.available, step.reclaimable);
    for (const UsageChange& change : step.usage) {
        Resident& resident = residents_[change.pod];
        resident.figures.apply(change);
        resident.usage = resident.figures.usage(*resident.pod);
    }
}

Observation Player::observe(const Step& step) const {
    Observation observation;
    observation.cause.kind = CauseKind::timer;
    observation.at = start_time + step.at;
    observation.cause.detected_at = observation.at;
    observation.wall = scenario_.start + step.at;
    observation.readings = signals_.readings();
    policy::compare_with(scenario_.config.eviction.memory_available, observation.readings);
    observation.fs_layout = scenario_.layout;
    if (scenario_.has_runtime) {
        auto runtime = std::make_shared<Runtime>(runtime_);
        runtime->at = observation.at;
        runtime->since = start_time;
        observation.runtime = std::move(runtime);
    }
    std::vector<bool> unavailable(residents_.size());
    for (const PodIndex pod : step.unavailable) unavailable[pod] = true;
    observation.pods.reserve(residents_.size());
    for (PodIndex i = 0; i < residents_.size(); ++i) {
        const Resident& resident = residents_[i];
        if (!is_on_node(i) || resident.next == Life::failed) continue;
        ObservedPod& observed = observation.pods.emplace_back();
        observed.pod = resident.pod;
        if (!unavailable[i]) observed.usage = resident.usage;
        observed.cgroup.value = i + 1;
        observed.populated = !has_ended(*resident.pod);
    }
    return observation;
}

// They fail before anybody looks: no eviction is wasted on them.
void Player::find_past_deadline(const Step& step, StepResult& result) {
    for (PodIndex i = 0; i < residents_.size(); ++i) {
        Resident& resident = residents_[i];
        if (!is_on_node(i) || resident.life != Life::on_node || has_ended(*resident.pod)) continue;
        if (!policy::past_active_deadline(*resident.pod, scenario_.start + step.at)) continue;
        resident.next = Life::failed;
        result.deadline_exceeded.push_back(i);
    }
}

// What was asked is done at once, in the scenario's world; the next look is told.
void Player::carry_out(const Step& step, const Observation& observation, StepResult& result) {
    const auto failed = [&](const PodUid& uid) { return has(step.eviction_fails, by_uid_.at(uid.value)); };
    for (const Action& action : result.decision.actions) {
        Resident& resident = residents_[by_uid_.at(action.pod.value)];
        Outcome outcome;
        outcome.action = {ActionKind::kill, action.pod, action.pod_name, action.cgroup};
        outcome.decided_at = observation.at;
        outcome.delivered_at = observation.at;
        outcome.method = "replay";
        if (failed(action.pod)) {
            outcome.status = OutcomeStatus::failed;
            outcome.error = "the scenario says so";
        } else {
            resident.life = Life::evicted;
        }
        outcomes_.push_back(std::move(outcome));
    }
    if (result.decision.evict) result.evict_failed = failed(result.decision.evict->pod);
    for (const Eviction& eviction : result.decision.limit_evictions)
        result.limit_failed.push_back(failed(eviction.pod));
}

ReclaimOutcome Player::remove(const DesiredGarbage& garbage, StepResult& result) {
    ReclaimOutcome outcome;
    outcome.pass = garbage.pass;
    for (const Garbage& one : garbage.removals) {
        const auto has_its_id = [&](const auto& item) { return item.id == one.id; };
        const auto has_its_path = [&](const auto& item) { return item.path == one.id; };
        switch (one.kind) {
            case GarbageKind::container:
                release_image(runtime_, one.id, result.observation.wall);
                std::erase_if(runtime_.containers, has_its_id);
                break;
            case GarbageKind::sandbox:
                std::erase_if(runtime_.sandboxes, has_its_id);
                break;
            case GarbageKind::image:
                std::erase_if(runtime_.images, has_its_id);
                break;
            case GarbageKind::log_directory:
                std::erase_if(runtime_.log_directories, [&](const auto& item) { return item.name == one.id; });
                break;
            case GarbageKind::log_link:
                std::erase_if(runtime_.log_links, has_its_path);
                break;
            case GarbageKind::rotated_log:
                std::erase_if(runtime_.rotated_logs, has_its_path);
                break;
            case GarbageKind::volume_directory:
            case GarbageKind::cgroup:
                break;  // no inventory has them
        }
        outcome.removals.push_back({one.kind, one.id, GarbageStatus::removed, {}});
        result.removed.push_back(one);
    }
    return outcome;
}

// Until the reclaim is over: it may take rounds, of which each is removed at once.
void Player::look_after_reclaim(const Step& step, StepResult& result) {
    for (const NodeReclaim what : result.decision.reclaim) {
        signals_.add_freed(what == NodeReclaim::containers ? step.gc_frees.containers
                           : what == NodeReclaim::images   ? step.gc_frees.images
                                                           : step.gc_frees.logs);
    }
    Decision& first = result.decision;
    DesiredGarbage garbage = first.garbage;
    Decision last;
    for (std::size_t looks = 2 * (scenario_.runtime.images.size() + 2); state_.reclaiming && looks > 0; --looks) {
        std::optional<ReclaimOutcome> outcome;
        if (!garbage.inventory_since) outcome = remove(garbage, result);
        result.observation = observe(step);
        result.observation.reclaimed = std::move(outcome);
        auto verdict = policy::decide(scenario_.config.eviction, result.observation, state_);
        state_ = std::move(verdict.state);
        last = std::move(verdict.decision);
        garbage = last.garbage;
        first.actions.insert(first.actions.end(), last.actions.begin(), last.actions.end());
    }
    first.why += last.evict ? "; that was not enough: " + last.why : "; " + last.why;
    first.ranking = std::move(last.ranking);
    first.evict = std::move(last.evict);
    first.limit_evictions = std::move(last.limit_evictions);
}

void Player::look(const Step& step, StepResult& result) {
    result.observation = observe(step);
    result.observation.outcomes = std::exchange(outcomes_, {});
    result.observation.reclaimed = std::exchange(collected_, std::nullopt);
    auto verdict = policy::decide(scenario_.config.eviction, result.observation, state_);
    state_ = std::move(verdict.state);
    result.decision = std::move(verdict.decision);
    if (!result.decision.reclaim.empty()) {
        look_after_reclaim(step, result);
    } else if (result.decision.garbage.pass != 0) {
        collected_ = remove(result.decision.garbage, result);
    }
    carry_out(step, result.observation, result);
}

void Player::pass_taints(const Step& step, StepResult& result) {
    if (step.taints) taints_ = step.taints;
    if (!taints_) return;
    std::vector<PodPtr> pods;
    for (PodIndex i = 0; i < residents_.size(); ++i) {
        if (is_on_node(i) && residents_[i].next != Life::deleted) pods.push_back(residents_[i].pod);
    }
    auto pass = policy::pass_taints(*taints_, pods, pending_, start_time + step.at);
    pending_ = std::move(pass.pending);
    auto& told = result.taint_evictions.emplace();
    for (const auto& eviction : pass.due) {
        residents_[by_uid_.at(eviction.pod.value)].next = Life::deleted;
        told.push_back({eviction.pod_name, eviction.due - start_time});
    }
    for (const auto& eviction : pending_) told.push_back({eviction.pod_name, eviction.due - start_time});
}

StepResult Player::play(const Step& step) {
    StepResult result;
    result.step = &step;
    begin(step);
    find_past_deadline(step, result);
    look(step, result);
    for (const PodIndex pod : step.admit) {
        result.admit.emplace_back(pod, policy::admit(*scenario_.pods[pod], result.decision.conditions));
    }
    pass_taints(step, result);
    result.scale_down = scale_down(step);
    for (const PodIndex pod : step.qos) result.qos.push_back(qos(pod));
    if (step.gc) result.gc = gc(step);
    if (step.deletions) {
        result.deleted = ask_owner_graph(scenario_.objects, *step.deletions, most_actions(scenario_.objects));
    }
    return result;
}

}  // namespace evictd::replay
