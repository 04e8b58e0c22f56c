// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "container_gc.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "age.hpp"

namespace evictd::policy {

namespace {

using Group = std::vector<std::size_t>;  // positions in a list of the runtime, oldest first

template <class Item>
void sort_oldest_first(Group& group, const std::vector<Item>& items) {
    std::stable_sort(group.begin(), group.end(),
                     [&](std::size_t a, std::size_t b) { return items[a].created < items[b].created; });
}

bool is_given_up(const std::string& pod, const PodFateOf& fate_of, const ContainerGcPolicy& policy) {
    const PodFate fate = fate_of(pod);
    return fate == PodFate::deleted || (fate == PodFate::terminated && policy.evict_non_deleted_pods);
}

// evictContainers, step by step over its units: what one step removes, the next no longer counts.
class ContainerSweep {
public:
    ContainerSweep(const ContainerGcPolicy& policy, const std::vector<RuntimeContainer>& containers, WallTime now)
        : policy_(policy), containers_(containers) {
        // evictUnit: the containers of one name in one pod, one for each time it was started.
        std::map<std::pair<std::string_view, std::string_view>, std::size_t> unit_of;
        for (std::size_t i = 0; i < containers.size(); ++i) {
            const RuntimeContainer& container = containers[i];
            if (container.state == ContainerState::running) continue;
            if (age(now, container.created) < policy.min_age) continue;
            const auto [unit, added] = unit_of.try_emplace({container.pod, container.name}, units_.size());
            if (added) units_.emplace_back();
            units_[unit->second].push_back(i);
        }
        for (Group& unit : units_) sort_oldest_first(unit, containers);
    }

    void remove_given_up(const PodFateOf& fate_of) {
        for (Group& unit : units_) {
            if (is_given_up(containers_[unit.front()].pod, fate_of, policy_)) remove_oldest(unit, unit.size());
        }
        std::erase_if(units_, [](const Group& unit) { return unit.empty(); });
    }

    void keep_newest_of_each(std::size_t kept) {
        for (Group& unit : units_) remove_oldest(unit, unit.size() - std::min(kept, unit.size()));
    }

    void keep_newest_of_all(std::size_t kept) {
        if (count() <= kept) return;
        keep_newest_of_each(std::max<std::size_t>(kept / units_.size(), 1));
        if (count() <= kept) return;
        Group all;
        for (const Group& unit : units_) all.insert(all.end(), unit.begin(), unit.end());
        std::sort(all.begin(), all.end());  // equally old ones in the order of the list
        sort_oldest_first(all, containers_);
        remove_oldest(all, all.size() - kept);
    }

    [[nodiscard]] const Group& removed() const { return removed_; }

private:
    [[nodiscard]] std::size_t count() const {
        std::size_t sum = 0;
        for (const Group& unit : units_) sum += unit.size();
        return sum;
    }

    void remove_oldest(Group& group, std::size_t number) {
        const auto end = group.begin() + static_cast<std::ptrdiff_t>(number);
        removed_.insert(removed_.end(), group.begin(), end);
        group.erase(group.begin(), end);
    }

    const ContainerGcPolicy& policy_;
    const std::vector<RuntimeContainer>& containers_;
    std::vector<Group> units_;
    Group removed_;
};

// evictSandboxes. A sandbox that is ready, or has a container left, stays.
std::vector<std::string> collect_sandboxes(const ContainerGcPolicy& policy, const Runtime& runtime,
                                           const Group& removed_containers, const PodFateOf& fate_of) {
    std::vector<bool> removed(runtime.containers.size());
    for (const std::size_t i : removed_containers) removed[i] = true;
    std::unordered_set<std::string_view> occupied;
    for (std::size_t i = 0; i < runtime.containers.size(); ++i) {
        if (!removed[i]) occupied.insert(runtime.containers[i].sandbox);
    }

    std::unordered_map<std::string_view, std::size_t> pod_of;
    std::vector<Group> pods;
    for (std::size_t i = 0; i < runtime.sandboxes.size(); ++i) {
        const auto [pod, added] = pod_of.try_emplace(runtime.sandboxes[i].pod, pods.size());
        if (added) pods.emplace_back();
        pods[pod->second].push_back(i);
    }

    std::vector<std::string> result;
    for (Group& pod : pods) {
        sort_oldest_first(pod, runtime.sandboxes);
        // The newest stays for logs and the pod's address, whether or not it is still at work.
        if (!is_given_up(runtime.sandboxes[pod.front()].pod, fate_of, policy)) pod.pop_back();
        for (const std::size_t i : pod) {
            const RuntimeSandbox& sandbox = runtime.sandboxes[i];
            if (!sandbox.ready && !occupied.contains(sandbox.id)) result.push_back(sandbox.id);
        }
    }
    return result;
}

}  // namespace

ContainerGcResult collect_containers(const ContainerGcPolicy& policy, const Runtime& runtime, const PodFateOf& fate_of,
                                     WallTime now) {
    ContainerSweep sweep(policy, runtime.containers, now);
    sweep.remove_given_up(fate_of);
    if (policy.max_per_pod_container >= 0) {
        sweep.keep_newest_of_each(static_cast<std::size_t>(policy.max_per_pod_container));
    }
    if (policy.max_containers >= 0) sweep.keep_newest_of_all(static_cast<std::size_t>(policy.max_containers));

    ContainerGcResult result;
    for (const std::size_t i : sweep.removed()) result.containers.push_back(runtime.containers[i].id);
    result.sandboxes = collect_sandboxes(policy, runtime, sweep.removed(), fate_of);
    return result;
}

}  // namespace evictd::policy
