// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "orphans.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "evictd/model/back_off.hpp"
#include "evictd/model/log_names.hpp"
#include "garbage.hpp"
#include "moments.hpp"

namespace evictd::policy {

namespace {

using KnownPods = std::unordered_set<std::string_view>;

// There is a pass each minute, so that the first attempts are made at each.
constexpr Duration first_removal_pause = std::chrono::seconds(10);
constexpr Duration longest_removal_pause = std::chrono::minutes(10);

// Pods that a source has, or had as long as their cgroup is there, and those that have processes.
KnownPods known_pods(const Observation& observation) {
    KnownPods known;
    for (const ObservedPod& observed : observation.pods) known.insert(observed.pod->uid.value);
    for (const UnknownPod& unknown : observation.unknown_pods) {
        if (unknown.populated) known.insert(unknown.pod.value);
    }
    return known;
}

// As the API server makes them (RFC 4122). That of a static pod is a hash without "-", and the API server knows nothing
// of it but a mirror with another UID.
bool is_uid_of_api_server(std::string_view uid) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    return std::equal(uid.begin(), uid.end(), form.begin(), form.end(), [](char c, char wanted) {
        const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        return wanted == '-' ? c == '-' : is_digit;
    });
}

// "namespace/name" of NAMESPACE_NAME_UID; empty: it has another form. Neither has a "_" in it.
std::string name_in_log_directory(std::string_view directory) {
    const auto first = directory.find('_');
    const auto last = directory.rfind('_');
    if (first == std::string_view::npos || last <= first) return {};
    const auto name = directory.substr(first + 1, last - first - 1);
    if (name.find('_') != std::string_view::npos) return {};
    return std::string(directory.substr(0, first)) + "/" + std::string(name);
}

// What the inventory has of one pod. A sandbox with a container of another pod makes it doubtful.
struct Leftovers {
    std::string name{};        // "namespace/name"
    bool is_doubtful = false;  // it has two names or none, lives, or is not the API server's
};
using LeftoversByPod = std::unordered_map<std::string_view, Leftovers>;

void note_name(Leftovers& of, const std::string& name) {
    if (of.name.empty()) of.name = name;
    if (name.empty() || of.name != name) of.is_doubtful = true;
}

void weigh_leftovers(const Runtime& runtime, LeftoversByPod& asked) {
    std::unordered_map<std::string_view, std::string_view> pod_of_sandbox;
    for (const RuntimeSandbox& sandbox : runtime.sandboxes) {
        const auto found = asked.find(sandbox.pod);
        if (found == asked.end()) continue;
        pod_of_sandbox.emplace(sandbox.id, sandbox.pod);
        note_name(found->second, sandbox.namespace_name + "/" + sandbox.name);
        const auto source = sandbox.annotations.find(config_source_annotation);
        const bool is_of_api = source == sandbox.annotations.end() || source->second == "api";
        if (sandbox.ready || !is_of_api) found->second.is_doubtful = true;
    }
    for (const RuntimeContainer& container : runtime.containers) {
        const auto found = asked.find(container.pod);
        if (found != asked.end() && container.state != ContainerState::exited) found->second.is_doubtful = true;
        const auto home = pod_of_sandbox.find(container.sandbox);
        const bool is_foreign = home != pod_of_sandbox.end() && home->second != container.pod;
        if (is_foreign) asked.at(home->second).is_doubtful = true;
    }
    for (const LogDirectory& directory : runtime.log_directories) {
        const auto found = asked.find(pod_of_log_directory(directory.name));
        if (found != asked.end()) note_name(found->second, name_in_log_directory(directory.name));
    }
}

// Of these pods alone, without links and images.
Runtime part_of(const Runtime& runtime, const LeftoversByPod& pods) {
    Runtime part;
    part.whole = runtime.whole;
    part.at = runtime.at;
    for (const auto& one : runtime.sandboxes) {
        if (pods.contains(one.pod)) part.sandboxes.push_back(one);
    }
    for (const auto& one : runtime.containers) {
        if (pods.contains(one.pod)) part.containers.push_back(one);
    }
    for (const auto& one : runtime.log_directories) {
        if (pods.contains(pod_of_log_directory(one.name))) part.log_directories.push_back(one);
    }
    return part;
}

// Adds the volume directory of each pod, which no inventory lists, and its cgroup: only of pods of which something else
// is left, which has the pod's name, by which the API server is asked. Before the log directories: what is left is
// found again by them. After the sandboxes, whose containers had the volumes mounted. The cgroup after the volumes, as
// in the kubelet: their pages in memory are charged to it.
std::vector<Garbage> with_volumes_and_cgroups(std::vector<Garbage> orphans, const std::vector<LeftCgroup>& cgroups) {
    const auto logs = std::stable_partition(orphans.begin(), orphans.end(), [](const Garbage& one) {
        return one.kind == GarbageKind::container || one.kind == GarbageKind::sandbox;
    });
    std::set<std::string> pods;
    for (const Garbage& one : orphans) pods.insert(one.pod.value);
    std::vector<Garbage> more;
    more.reserve(pods.size() + cgroups.size());
    for (const std::string& pod : pods) {
        more.push_back({GarbageKind::volume_directory, pod, pod, {pod}, std::nullopt, {}});
    }
    for (const LeftCgroup& one : cgroups) {
        if (pods.contains(one.pod.value))
            more.push_back({GarbageKind::cgroup, one.path, one.path, one.pod, std::nullopt, {}});
    }
    orphans.insert(logs, more.begin(), more.end());
    return orphans;
}

bool is_whole(const RuntimeLists& lists) { return lists.sandboxes && lists.containers && lists.logs; }

void note_unknown(const Runtime& runtime, const KnownPods& known, MonotonicTime now, Collecting& collecting) {
    std::map<std::string, UnknownOwner> before;
    for (UnknownOwner& one : collecting.unknown) before.emplace(one.pod, one);
    std::set<std::string> listed;
    const auto add = [&](const std::string& pod) {
        if (is_uid_of_api_server(pod) && !known.contains(pod)) listed.insert(pod);
    };
    for (const auto& one : runtime.sandboxes) add(one.pod);
    for (const auto& one : runtime.containers) add(one.pod);
    for (const auto& one : runtime.log_directories) add(pod_of_log_directory(one.name));
    collecting.unknown.clear();
    for (const std::string& pod : listed) {
        const auto found = before.find(pod);
        collecting.unknown.push_back(found != before.end() ? found->second : UnknownOwner{pod, now});
    }
    collecting.unknown_of = runtime.at;
}

// Whose volumes or cgroup it is; empty: it is neither, and no wait depends on it.
std::string pod_of(const GarbageOutcome& outcome, const std::vector<LeftCgroup>& cgroups) {
    if (outcome.kind == GarbageKind::volume_directory) return outcome.id;
    if (outcome.kind != GarbageKind::cgroup) return {};
    const auto found =
        std::find_if(cgroups.begin(), cgroups.end(), [&](const LeftCgroup& one) { return one.path == outcome.id; });
    return found == cgroups.end() ? std::string() : found->pod.value;
}

bool has_failed(const GarbageOutcome& outcome) {
    const bool is_bad = outcome.status == GarbageStatus::failed || outcome.status == GarbageStatus::refused;
    return is_bad && !outcome.goes_on;
}

// One is reported once something of it is: where the API server could not be asked it is tried again.
void note_reported(const ReclaimOutcome& done, Collecting& collecting) {
    std::set<std::string_view> pods;
    for (const Garbage& one : done.orphans) pods.insert(one.pod.value);
    for (UnknownOwner& one : collecting.unknown) one.reported = one.reported || pods.contains(one.pod);
}

// Each attempt at volumes looks at all mounts of the node, and a minute later nothing may have changed.
void note_failures(const Observation& observation, Collecting& collecting) {
    std::map<std::string, bool> failed;
    for (const GarbageOutcome& outcome : observation.reclaimed->removals) {
        const std::string pod = pod_of(outcome, observation.left_cgroups);
        if (!pod.empty()) failed[pod] = failed[pod] || has_failed(outcome);
    }
    for (UnknownOwner& one : collecting.unknown) {
        const auto found = failed.find(one.pod);
        if (found == failed.end()) continue;
        one.failures = found->second ? std::min(one.failures, most_doublings) + 1 : 0;
        one.again_at = found->second
                           ? after(observation.at, back_off(first_removal_pause, longest_removal_pause, one.failures))
                           : MonotonicTime{};
    }
}

bool is_candidate(const GarbageConfig& config, const UnknownOwner& one, MonotonicTime now) {
    const bool is_due = now - one.since >= config.orphan_quarantine && now >= one.again_at;
    return is_due && !(config.orphans == Orphans::report && one.reported);
}

}  // namespace

void follow_orphans(const GarbageConfig& config, const Observation& observation, bool shuts_down,
                    Collecting& collecting) {
    const bool is_on = config.orphans != Orphans::off && !shuts_down;
    if (!is_on || !observation.runtime || !observation.pods_complete) {
        collecting.unknown.clear();
        collecting.unknown_of.reset();
        return;
    }
    if (observation.reclaimed) {
        note_failures(observation, collecting);
        note_reported(*observation.reclaimed, collecting);
    }
    const bool is_new = collecting.unknown_of != observation.runtime->at && is_whole(observation.runtime->whole);
    if (!is_new && collecting.unknown.empty()) return;
    const KnownPods known = known_pods(observation);
    std::erase_if(collecting.unknown, [&](const UnknownOwner& one) { return known.contains(one.pod); });
    if (is_new) note_unknown(*observation.runtime, known, observation.at, collecting);
}

std::vector<Garbage> plan_orphans(const GarbageConfig& config, const Observation& observation,
                                  const Collecting& collecting) {
    if (collecting.unknown_of != observation.runtime->at) return {};
    LeftoversByPod pods;
    for (const UnknownOwner& one : collecting.unknown) {
        if (is_candidate(config, one, observation.at)) pods.emplace(one.pod, Leftovers{});
    }
    weigh_leftovers(*observation.runtime, pods);
    std::erase_if(pods, [](const auto& entry) { return entry.second.is_doubtful || entry.second.name.empty(); });
    const GarbageRequest request{.forced = true,
                                 .images = false,
                                 .now = observation.at,
                                 .inventory_since = observation.runtime->at,
                                 .wall = observation.wall,
                                 .missing = {}};
    // All that is left in this part of the inventory is an orphan's.
    const auto gone = [](const std::string& /*uid*/) { return PodWord{PodFate::deleted, {}}; };
    auto orphans = with_volumes_and_cgroups(
        plan_garbage(config, request, part_of(*observation.runtime, pods), gone).removals, observation.left_cgroups);
    for (Garbage& one : orphans) {
        one.orphan_of = pods.at(one.pod.value).name;
        const bool has_name = one.kind == GarbageKind::container || one.kind == GarbageKind::sandbox;
        if (!has_name) one.name = one.orphan_of;
        one.why = "its pod is known to no source for " + to_string(config.orphan_quarantine) + " or longer";
    }
    return orphans;
}

bool is_disproved(const DesiredGarbage& garbage, const Observation& observation) {
    const bool has_orphans = !garbage.removals.empty() && !garbage.removals.begin()->orphan_of.empty();
    if (!has_orphans) return false;
    if (!observation.pods_complete) return true;
    const KnownPods known = known_pods(observation);
    return std::any_of(garbage.removals.begin(), garbage.removals.end(),
                       [&](const Garbage& one) { return known.contains(one.pod.value); });
}

}  // namespace evictd::policy
