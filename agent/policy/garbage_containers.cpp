// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which containers and sandboxes go, and why the others stay. Beyond the rules of container_gc: only a container that
// has exited goes. The kubelet also removes one that was created and not started, or whose state the runtime does not
// know; such a one may run a moment later.
#include <array>
#include <utility>

#include "garbage_order.hpp"
#include "garbage_parts.hpp"

namespace evictd::policy {

namespace {

constexpr std::array<std::string_view, 4> why_it_lives{"it was created and may be started", "it is running",
                                                       "it has exited", "the runtime does not know its state"};

class ContainerPart {
public:
    explicit ContainerPart(const GarbageLook& look) : look_(look), names_(look.runtime) {}

    std::unordered_set<std::string_view> plan(GarbagePlan& plan) {
        why_unknown_ = why_list_unknown(look_, look_.runtime.whole.containers, "containers");
        if (why_unknown_.empty()) {
            why_unknown_ = why_list_unknown(look_, look_.runtime.whole.sandboxes, "sandboxes");
        }
        copy_with_doubts();
        if (why_unknown_.empty()) choose();
        order(plan);
        keep_others(plan);
        return std::move(gone_);
    }

private:
    // What the rules are given: all that is doubtful is at work.
    void copy_with_doubts() {
        judged_.containers = look_.runtime.containers;
        judged_.sandboxes = look_.runtime.sandboxes;
        const auto doubtful = ambiguous_ids(look_.runtime.containers);
        for (RuntimeContainer& container : judged_.containers) {
            const bool dead = container.state == ContainerState::exited && !doubtful.contains(container.id);
            container.state = dead ? ContainerState::exited : ContainerState::running;
        }
        const auto doubtful_sandboxes = ambiguous_ids(look_.runtime.sandboxes);
        for (RuntimeSandbox& sandbox : judged_.sandboxes) {
            sandbox.ready = sandbox.ready || doubtful_sandboxes.contains(sandbox.id);
        }
    }

    void choose() {
        ContainerGcPolicy policy;
        policy.evict_non_deleted_pods = look_.request.forced;
        const auto fate_of = [this](const std::string& uid) { return look_.word_of(uid).fate; };
        const ContainerGcResult result = collect_containers(policy, judged_, fate_of, look_.request.wall);
        chosen_containers_.insert(result.containers.begin(), result.containers.end());
        chosen_sandboxes_.insert(result.sandboxes.begin(), result.sandboxes.end());
    }

    void order(GarbagePlan& plan) {
        std::unordered_map<std::string_view, std::size_t> containers;
        std::unordered_map<std::string_view, std::size_t> sandboxes;
        std::vector<std::size_t> leaving_containers;
        std::vector<std::size_t> leaving_sandboxes;
        for (std::size_t i = 0; i < judged_.containers.size(); ++i) {
            if (!chosen_containers_.contains(judged_.containers[i].id)) continue;
            containers.emplace(judged_.containers[i].id, i);
            leaving_containers.push_back(i);
        }
        for (std::size_t i = 0; i < judged_.sandboxes.size(); ++i) {
            if (!chosen_sandboxes_.contains(judged_.sandboxes[i].id)) continue;
            sandboxes.emplace(judged_.sandboxes[i].id, i);
            leaving_sandboxes.push_back(i);
        }
        for (const ObjectId& object : removal_order(judged_, leaving_containers, leaving_sandboxes)) {
            if (object.kind == container_object) {
                const std::size_t i = containers.at(object.uid);
                gone_.insert(look_.runtime.containers[i].id);
                plan.removals.push_back(garbage(look_.runtime.containers[i], why_it_goes(judged_.containers[i])));
            } else {
                const std::size_t i = sandboxes.at(object.uid);
                gone_sandboxes_.insert(look_.runtime.sandboxes[i].id);
                plan.removals.push_back(garbage(look_.runtime.sandboxes[i], why_it_goes(judged_.sandboxes[i])));
            }
        }
    }

    [[nodiscard]] std::string why_it_goes(const RuntimeContainer& container) const {
        const PodFate fate = look_.word_of(container.pod).fate;
        if (fate == PodFate::deleted) return "it has exited, and its pod is gone";
        if (fate == PodFate::terminated && look_.request.forced) return "it has exited, and its pod has ended";
        return "it has exited, and is not the newest of its container";
    }
    [[nodiscard]] std::string why_it_goes(const RuntimeSandbox& sandbox) const {
        const PodFate fate = look_.word_of(sandbox.pod).fate;
        if (fate == PodFate::deleted) return "it is not ready, and its pod is gone";
        if (fate == PodFate::terminated && look_.request.forced) return "it is not ready, and its pod has ended";
        return "it is not ready, and is not the newest of its pod";
    }

    void keep_others(GarbagePlan& plan) const {
        std::unordered_map<std::string_view, const RuntimeContainer*> occupied;
        for (std::size_t i = 0; i < judged_.containers.size(); ++i) {
            const RuntimeContainer& container = look_.runtime.containers[i];
            if (gone_.contains(container.id)) continue;
            occupied.try_emplace(container.sandbox, &container);
            plan.kept.push_back(garbage(container, why_it_stays(container, judged_.containers[i])));
        }
        for (std::size_t i = 0; i < judged_.sandboxes.size(); ++i) {
            const RuntimeSandbox& sandbox = look_.runtime.sandboxes[i];
            if (gone_sandboxes_.contains(sandbox.id)) continue;
            const auto found = occupied.find(sandbox.id);
            const RuntimeContainer* inside = found == occupied.end() ? nullptr : found->second;
            plan.kept.push_back(garbage(sandbox, why_it_stays(sandbox, judged_.sandboxes[i], inside)));
        }
    }

    [[nodiscard]] std::string why_it_stays(const RuntimeContainer& container, const RuntimeContainer& judged) const {
        if (container.state != ContainerState::exited) {
            return std::string(why_it_lives.at(static_cast<std::size_t>(container.state)));
        }
        if (judged.state != ContainerState::exited) return "the runtime lists its id more than once, or lists none";
        if (!why_unknown_.empty()) return why_unknown_;
        return "it is the newest of its container, and " + look_.word_of(container.pod).why;
    }
    [[nodiscard]] std::string why_it_stays(const RuntimeSandbox& sandbox, const RuntimeSandbox& judged,
                                           const RuntimeContainer* inside) const {
        if (sandbox.ready) return "it is ready";
        if (judged.ready) return "the runtime lists its id more than once, or lists none";
        if (!why_unknown_.empty()) return why_unknown_;
        if (inside != nullptr) return "container " + inside->name + " is in it";
        return "it is the newest of its pod, and " + look_.word_of(sandbox.pod).why;
    }

    [[nodiscard]] Garbage garbage(const RuntimeContainer& container, std::string why) const {
        const auto size = container.layer ? std::optional(container.layer->used) : std::nullopt;
        return {GarbageKind::container, container.id, names_.of(container), {container.pod}, size, std::move(why)};
    }
    [[nodiscard]] Garbage garbage(const RuntimeSandbox& sandbox, std::string why) const {
        return {GarbageKind::sandbox, sandbox.id, names_.of(sandbox.pod), {sandbox.pod}, {}, std::move(why)};
    }

    const GarbageLook& look_;
    PodNames names_;
    Runtime judged_;
    std::string why_unknown_;
    std::unordered_set<std::string> chosen_containers_;
    std::unordered_set<std::string> chosen_sandboxes_;
    std::unordered_set<std::string_view> gone_;
    std::unordered_set<std::string_view> gone_sandboxes_;
};

}  // namespace

std::unordered_set<std::string_view> plan_containers(const GarbageLook& look, GarbagePlan& plan) {
    return ContainerPart(look).plan(plan);
}

}  // namespace evictd::policy
