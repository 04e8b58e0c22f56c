// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node in a few words: its pods, what is available, and looks at it at chosen times. Nothing is asserted here.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "decide.hpp"

namespace evictd::policy::testing {

using namespace std::chrono_literals;

constexpr MonotonicTime boot{std::chrono::hours(1)};
inline MonotonicTime at(Duration since) { return boot + since; }

inline Quantity quantity(Bytes bytes) { return Quantity::of(bytes.value, Quantity::Format::binary_si); }

struct PodWords {
    std::string name;
    std::optional<Bytes> working_set = 0_B;  // none: its usage is not known
    std::optional<Bytes> request = std::nullopt;
    std::optional<std::int32_t> priority = std::nullopt;
    PodOrigin origin = PodOrigin::api;
    std::chrono::seconds grace = 30s;
    PodPhase phase = PodPhase::running;
    std::optional<Duration> started = std::nullopt;  // since 1970
    bool deleted = false;
    bool populated = true;
    std::uint64_t cgroup = 100;
};

inline Container container(std::string name, std::optional<Bytes> request = std::nullopt, bool restartable = false) {
    Container made;
    made.name = std::move(name);
    if (request) made.requests.memory = quantity(*request);
    made.restartable = restartable;
    return made;
}

inline ObservedPod pod(const PodWords& words) {
    auto made = std::make_shared<Pod>();
    made->uid = {"uid-" + words.name};
    made->name_space = "default";
    made->name = words.name;
    made->origin = words.origin;
    made->priority = words.priority;
    made->containers = {container("app", words.request)};
    made->termination_grace_period = words.grace;
    made->phase = words.phase;
    if (words.started) made->start_time = WallTime(*words.started);
    if (words.deleted) made->deletion_time = WallTime(1s);
    ObservedPod observed;
    observed.pod = made;
    if (words.working_set) {
        observed.usage = PodUsage{*words.working_set, *words.working_set, *words.working_set, 0_B, 1};
    }
    observed.cgroup = {words.cgroup};
    observed.populated = words.populated;
    return observed;
}

inline Threshold hard(Bytes value, std::optional<Bytes> min_reclaim = std::nullopt,
                      Signal signal = Signal::memory_available) {
    Threshold threshold{signal, {quantity(value)}, Duration::zero(), std::nullopt};
    if (min_reclaim) threshold.min_reclaim = ThresholdValue{quantity(*min_reclaim)};
    return threshold;
}

inline Threshold soft(Bytes value, Duration grace_period, Signal signal = Signal::memory_available) {
    return {signal, {quantity(value)}, grace_period, std::nullopt};
}

// Looks follow each other; what was decided is carried out by carry_out() and told with the next look.
struct Node {
    EvictionConfig config{};
    std::vector<ObservedPod> pods{};
    Readings readings{};
    std::vector<Outcome> outcomes{};
    State state{};
    std::vector<UnknownPod> unknown_pods{};
    std::vector<LeftCgroup> left_cgroups{};
    bool usage_unknown = false;
    bool pods_unlisted = false;

    Node& set(Bytes available, Signal signal = Signal::memory_available, Bytes capacity = 8_GiB) {
        readings[static_cast<std::size_t>(signal)] = Reading{{available.value}, {capacity.value}, {}};
        return *this;
    }
    Node& forget(Signal signal) {
        readings[static_cast<std::size_t>(signal)] = std::nullopt;
        return *this;
    }
    ObservedPod& find(const std::string& name) {
        return *std::find_if(pods.begin(), pods.end(), [&](const auto& one) { return one.pod->name == name; });
    }
    void remove(const std::string& name) {
        std::erase_if(pods, [&](const auto& one) { return one.pod->name == name; });
    }

    [[nodiscard]] Observation observe(Duration since, std::optional<Duration> read = std::nullopt) const {
        Observation observation;
        observation.cause = {CauseKind::timer, std::nullopt, at(since)};
        observation.at = at(since);
        observation.readings = readings;
        for (auto& reading : observation.readings) {
            if (reading) reading->at = at(read.value_or(since));
        }
        observation.pods = pods;
        observation.outcomes = outcomes;
        observation.unknown_pods = unknown_pods;
        observation.left_cgroups = left_cgroups;
        observation.usage_unknown = usage_unknown;
        observation.pods_unlisted = pods_unlisted;
        return observation;
    }
    // Every reading is taken at the look, unless `read` says when.
    Decision look(Duration since, std::optional<Duration> read = std::nullopt) {
        Verdict verdict = decide(config, observe(since, read), state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
    void carry_out(const Decision& decision, OutcomeStatus status, Duration since, const std::string& error = {}) {
        for (const auto& action : decision.actions) {
            outcomes.push_back({action, status, at(since), at(since), 1, "cgroup.kill", error});
        }
    }
};

inline std::string evicted(const Decision& decision) { return decision.evict ? decision.evict->pod.value : ""; }

inline std::vector<std::string> names(const std::vector<RankedPod>& ranking, const std::vector<ObservedPod>& pods) {
    std::vector<std::string> made;
    for (const auto& ranked : ranking) made.push_back(pods[ranked.pod].pod->name);
    return made;
}

}  // namespace evictd::policy::testing
