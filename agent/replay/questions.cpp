// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a step asks beside the look: orders, classes, and what a garbage collection would remove. Nothing changes by it.
#include "policy/image_gc.hpp"
#include "policy/log_gc.hpp"
#include "policy/oom_score.hpp"
#include "policy/qos.hpp"
#include "policy/scale_down.hpp"
#include "replay/player.hpp"

namespace evictd::replay {

// Pods that are only asked about count only where they are asked about.
std::vector<PodIndex> Player::scale_down(const Step& step) const {
    if (step.scale_down.empty()) return {};
    std::vector<bool> is_asked(residents_.size());
    for (const PodIndex pod : step.scale_down) is_asked[pod] = true;
    std::vector<PodPtr> known;
    std::vector<PodIndex> places;
    std::vector<std::uint32_t> asked;
    for (PodIndex i = 0; i < residents_.size(); ++i) {
        if (scenario_.only_asked[i] && !is_asked[i]) continue;
        if (is_asked[i]) asked.push_back(static_cast<std::uint32_t>(known.size()));
        known.push_back(residents_[i].pod);
        places.push_back(i);
    }
    std::vector<PodIndex> order;
    for (const auto position : policy::scale_down_order(known, asked, scenario_.start + step.at)) {
        order.push_back(places[position]);
    }
    return order;
}

QosAnswer Player::qos(PodIndex index) const {
    const Pod& pod = *scenario_.pods[index];
    QosAnswer answer{index, policy::qos_class(pod), {}};
    const Bytes memory{scenario_.capacity[static_cast<std::size_t>(Signal::memory_available)].value_or(0)};
    for (const auto* list : {&pod.containers, &pod.init_containers}) {
        for (const Container& container : *list) {
            answer.oom_score_adj.emplace_back(
                container.name,
                policy::oom_score_adj(pod, container, memory, scenario_.config.guaranteed_oom_score_adj));
        }
    }
    return answer;
}

policy::PodFate Player::fate_of(const std::string& uid) const {
    const auto found = by_uid_.find(uid);
    if (found == by_uid_.end()) return policy::PodFate::deleted;
    const Resident& resident = residents_[found->second];
    // The kubelet removes an evicted pod's content as if the pod were deleted: podWorkers.ShouldPodContentBeRemoved.
    if (resident.life == Life::evicted_and_gone || resident.life == Life::deleted) return policy::PodFate::deleted;
    return has_ended(*resident.pod) ? policy::PodFate::terminated : policy::PodFate::known;
}

// A look-up is answered at once: the scenario's pods are all there are. Who is in quarantine is remembered, from one
// step that asks to the next.
void Player::collect_pods(const Step& step, GcAnswer& answer) {
    policy::PodGcLook look;
    look.now = start_time + step.at;
    for (const Resident& resident : residents_) {
        if (resident.life != Life::deleted) look.pods.push_back(resident.pod);
    }
    for (const auto& sandbox : scenario_.runtime.sandboxes) {
        look.remains.push_back({{sandbox.pod}, policy::RemainsKind::sandbox, sandbox.id});
    }
    for (const auto& container : scenario_.runtime.containers) {
        look.remains.push_back({{container.pod}, policy::RemainsKind::container, container.id});
    }
    answer.pods.emplace();
    auto pass = policy::collect_pods(*step.gc->pods, look, pod_gc_);
    for (const auto& action : pass.actions) {
        if (action.verb == policy::PodGcVerb::delete_pod) answer.pods->push_back(action.pod_name);
        if (action.verb == policy::PodGcVerb::look_up) look.answers.push_back({action.suspect, false});
    }
    if (!look.answers.empty()) pass = policy::collect_pods(*step.gc->pods, look, pass.state);
    for (const auto& action : pass.actions) {
        if (action.verb == policy::PodGcVerb::remove) answer.remains.push_back(action.remains.id);
    }
    pod_gc_ = std::move(pass.state);
}

GcAnswer Player::gc(const Step& step) {
    GcAnswer answer;
    const WallTime now = scenario_.start + step.at;
    const auto fate = [this](const std::string& uid) { return fate_of(uid); };
    if (const auto& images = step.gc->images) {
        auto found = policy::collect_images(scenario_.config.eviction.garbage.image_gc, scenario_.runtime,
                                            images->capacity, images->available, now, step.at);
        answer.images = std::move(found.removed);
        answer.error = std::move(found.error);
    }
    if (step.gc->containers) {
        answer.containers = policy::collect_containers(*step.gc->containers, scenario_.runtime, fate, now);
    }
    if (step.gc->pods) collect_pods(step, answer);
    if (step.gc->logs) answer.logs = policy::collect_logs(scenario_.runtime, fate);
    return answer;
}

}  // namespace evictd::replay
