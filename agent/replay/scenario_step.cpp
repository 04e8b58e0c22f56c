// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/scenario_step.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "replay/scenario_keys.hpp"

namespace evictd::replay {
namespace {

// A century of nanoseconds fits 63 bits, with whatever start, grace and transition period on top.
constexpr Duration longest_story = std::chrono::hours(24 * 365 * 100);

bool any_signal(Signal /*signal*/) { return true; }

std::vector<std::string_view> signal_names(bool (*allowed)(Signal)) {
    std::vector<std::string_view> names;
    names.reserve(signal_table.size());
    for (const auto& row : signal_table) {
        if (allowed(row.signal)) names.push_back(row.name);
    }
    return names;
}

template <class Take>
void read_signals(const Value& map, const Take& take, bool (*allowed)(Signal) = any_signal) {
    for (const Value& field : map.fields()) {
        const auto signal = signal_from(field.key());
        if (!signal || !allowed(*signal)) {
            field.refuse_unknown("signal", signal_names(allowed));
            continue;
        }
        take(*signal, field.amount());
    }
}

std::vector<PodIndex> read_names(const Value& list, const PodNames& names) {
    std::vector<PodIndex> pods;
    std::vector<bool> seen;
    for (const Value& element : list.elements()) {
        const auto name = element.text();
        if (!name) {
            element.refuse("must be a pod's name", "write it as namespace/name");
            continue;
        }
        const auto pod = names.find(*name, element);
        if (!pod) continue;
        seen.resize(names.size());
        if (!seen[*pod]) pods.push_back(*pod);
        seen[*pod] = true;
    }
    return pods;
}

std::vector<std::pair<Signal, std::int64_t>> read_freed(const Value& map) {
    std::vector<std::pair<Signal, std::int64_t>> freed;
    read_signals(map, [&](Signal signal, Figure amount) {
        if (amount) freed.emplace_back(signal, *amount);
    });
    return freed;
}

std::optional<std::vector<Taint>> read_taints(const Value& list) {
    if (!list.present()) return std::nullopt;
    std::vector<Taint> taints;
    for (const Value& element : list.elements()) {
        element.allow({"key", "value", "effect", "timeAdded"});
        Taint taint{element["key"].text().value_or(""), element["value"].text().value_or(""),
                    element["effect"].text().value_or("")};
        constexpr std::array<std::string_view, 3> effects{"NoExecute", "NoSchedule", "PreferNoSchedule"};
        if (taint.key.empty()) element.refuse("a taint without a key", "give it a key");
        if (std::find(effects.begin(), effects.end(), taint.effect) == effects.end()) {
            element["effect"].refuse("invalid effect " + in_quotes(taint.effect),
                                     "expected NoExecute, NoSchedule or PreferNoSchedule");
        }
        taints.push_back(std::move(taint));
    }
    return taints;
}

ContainerGcPolicy read_container_policy(const Value& map) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    ContainerGcPolicy policy;
    map.allow({"evictNonDeletedPods", "minAge", "maxPerPodContainer", "maxContainers"});
    policy.evict_non_deleted_pods = map["evictNonDeletedPods"].boolean().value_or(policy.evict_non_deleted_pods);
    policy.min_age = map["minAge"].duration().value_or(policy.min_age);
    policy.max_per_pod_container =
        static_cast<int>(map["maxPerPodContainer"].integer(-most, most).value_or(policy.max_per_pod_container));
    policy.max_containers = static_cast<int>(map["maxContainers"].integer(-most, most).value_or(policy.max_containers));
    return policy;
}

policy::PodGcPolicy read_pod_policy(const Value& map) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    policy::PodGcPolicy policy;
    map.allow({"terminatedThreshold", "quarantine"});
    policy.terminated_threshold =
        static_cast<int>(map["terminatedThreshold"].integer(-most, most).value_or(policy.terminated_threshold));
    policy.quarantine = map["quarantine"].duration().value_or(policy.quarantine);
    return policy;
}

std::optional<GcQuestion> read_gc(const Value& map) {
    if (!map.present()) return std::nullopt;
    map.allow({"images", "containers", "logs", "pods"});
    GcQuestion question;
    if (const Value images = map["images"]; images.present()) {
        images.allow({"capacity", "available"});
        for (const auto* key : {"capacity", "available"}) {
            if (!images[key].present()) images.refuse(std::string(key) + " is missing", "give both, as 100Gi");
        }
        question.images = ImageGcQuestion{Bytes{images["capacity"].amount().value_or(0)},
                                          Bytes{images["available"].amount().value_or(0)}};
    }
    if (const Value containers = map["containers"]; containers.present()) {
        question.containers = read_container_policy(containers);
    }
    question.logs = map["logs"].present();
    if (const Value pods = map["pods"]; pods.present()) question.pods = read_pod_policy(pods);
    return question;
}

void read_time(const Value& at, Step& step) {
    if (!at.present()) at.refuse("is missing", "each step has a time since the start, such as 30s");
    const auto time = at.duration();
    if (!time) return;
    if (*time < Duration::zero()) at.refuse("is before the start", "begin at 0s");
    if (*time > longest_story) at.refuse("is more than a century after the start", "is the unit right?");
    step.at = std::clamp(*time, Duration::zero(), longest_story);
    step.at_text = at.scalar().value_or("");
}

}  // namespace

PodNames::PodNames(const Scenario& scenario) : refused_(scenario.refused) {
    names_.reserve(scenario.pods.size());
    for (const PodPtr& pod : scenario.pods) {
        names_.push_back(pod->full_name());
        by_name_.emplace(names_.back(), static_cast<PodIndex>(names_.size() - 1));
    }
}

std::optional<PodIndex> PodNames::find(std::string_view name, const Value& value) const {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    if (refused_.might_be(name) || value.reading().is_full()) return std::nullopt;
    const std::vector<std::string_view> known(names_.begin(), names_.end());
    value.refuse("there is no pod " + in_quotes(name), where_to_list(name, known, "pods"));
    return std::nullopt;
}

std::string where_to_list(std::string_view name, std::span<const std::string_view> known, const std::string& list) {
    constexpr std::size_t most_compared = 1000;  // for each of a hundred faults
    std::string to_list = "list it in `" + list + "`";
    if (known.empty() || known.size() > most_compared) return to_list;
    return document::did_you_mean(name, known, std::move(to_list));
}

Step read_step(const Value& map, const PodNames& names) {
    Step step;
    map.allow(step_keys, where_key_belongs);
    if (!map.present()) map.refuse("empty step", "a step is a map with its time: {at: 30s}");
    read_time(map["at"], step);
    read_signals(map["available"], [&](Signal signal, Figure amount) { step.available.emplace_back(signal, amount); });
    read_signals(
        map["reclaimable"], [&](Signal signal, Figure amount) { step.reclaimable.emplace_back(signal, amount); },
        is_memory);
    for (const Value& field : map["usage"].fields()) {
        if (const auto pod = names.find(field.key(), field)) step.usage.push_back(read_usage(field, *pod));
    }
    const Value frees = map["gcFrees"];
    frees.allow({"containers", "images", "logs"});
    step.gc_frees = {read_freed(frees["containers"]), read_freed(frees["images"]), read_freed(frees["logs"])};
    const auto read_list = [&](std::string_view key) { return read_names(map[key], names); };
    step.unavailable = read_list("unavailable");
    step.stuck = read_list("stuck");
    step.eviction_fails = read_list("evictionFails");
    step.admit = read_list("admit");
    step.taints = read_taints(map["taints"]);
    step.scale_down = read_list("scaleDown");
    step.qos = read_list("qos");
    step.gc = read_gc(map["gc"]);
    return step;
}

}  // namespace evictd::replay
