// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "awaited.hpp"

#include <algorithm>

#include "evictd/model/text.hpp"
#include "moments.hpp"
#include "thresholds.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A manifest that comes causes a look by itself. This one sees that the pod ended or shrank: as often again, and looks
// cost more CPU time; half as often, and pressure lasts longer than it has to.
constexpr Duration look_while_awaited = 50ms;
// As the agent looks at other pressure that lasts.
constexpr Duration look_without_usage = 100ms;

// Since when evictions wait; none: they do not, or a new wait may begin.
std::optional<MonotonicTime> waiting_since(const State& state, MonotonicTime now) {
    const auto since = state.awaiting_since;
    return since && now < after(*since, 2 * unknown_pod_period) ? since : std::nullopt;
}

MonotonicTime wait_end(const State& state, MonotonicTime now) {
    return after(waiting_since(state, now).value_or(now), unknown_pod_period);
}

// What it holds beyond its request, by which pods of one priority are ranked. A BestEffort pod comes before all that
// are within theirs.
Bytes beyond_request(const RankedPod& ranked, const EvictionConfig& config) {
    const bool behind = config.ranking == RankingOrder::qos && ranked.qos != QosClass::best_effort;
    if (behind || !ranked.exceeds_request) return {};
    return {ranked.usage.value - ranked.request.value};
}

}  // namespace

std::optional<AwaitedPods> awaited_before(const RankedPod& first, const EvictionConfig& config,
                                          const Observation& observation, const State& state) {
    const ObservedPod& pod = observation.pods[first.pod];
    const Bytes held = pod.usage ? pod.usage->working_set : Bytes{};
    const auto waiting_until = wait_end(state, observation.at);
    AwaitedPods awaited{.count = 0, .first = pod.pod->uid, .fresh = !waiting_since(state, observation.at)};
    for (const auto& unknown : observation.unknown_pods) {
        const auto until = std::min(after(unknown.first_seen, unknown_pod_period), waiting_until);
        if (!unknown.populated || observation.at >= until) continue;
        if (unknown.working_set <= beyond_request(first, config)) continue;
        if (awaited.count++ == 0 || unknown.working_set > awaited.largest.working_set) awaited.largest = unknown;
        awaited.together += unknown.working_set;
        awaited.until = std::max(awaited.until, until);
    }
    if (awaited.largest.working_set > held) return awaited;
    return would_relieve(awaited.together, config, observation.readings) ? std::optional(awaited) : std::nullopt;
}

bool waits_for_list(const Observation& observation, const State& state) {
    return observation.pods_unlisted && observation.at < wait_end(state, observation.at);
}

void remember_waiting(Course course, const Decision& decision, MonotonicTime now, State& state) {
    const bool waits = course == Course::unknown_pod || course == Course::pods_unlisted;
    if (decision.evict) {
        state.awaiting_since.reset();
    } else if (waits && !waiting_since(state, now)) {
        state.awaiting_since = now;
    }
}

std::optional<MonotonicTime> next_awaited_clock(Course course, const Decision& decision, MonotonicTime now) {
    if (course == Course::usage_unknown || course == Course::pods_unlisted) return after(now, look_without_usage);
    if (!decision.awaited) return std::nullopt;
    return std::min(decision.awaited->until, after(now, look_while_awaited));
}

std::string say_awaited(const AwaitedPods& awaited, const Observation& observation) {
    const auto first = std::find_if(observation.pods.begin(), observation.pods.end(), [&](const ObservedPod& observed) {
        return observed.pod && observed.pod->uid == awaited.first;
    });
    const std::string name = first == observation.pods.end() ? awaited.first.value : first->pod->full_name();
    const std::string held = bytes_text(awaited.together.value);
    const std::string uid = "UID " + awaited.largest.pod.value;
    const std::string who = awaited.count == 1
                                ? "a pod whose manifest is not known yet (" + uid + ", " + held + ")"
                                : std::to_string(awaited.count) + " pods whose manifests are not known yet (" + held +
                                      ", the largest: " + uid + ")";
    return who + " may come before " + name + " in the victim order; no pod is evicted for memory before " +
           (awaited.count == 1 ? "its manifest is" : "their manifests are") + " known, or in the next " +
           span_text(awaited.until - observation.at);
}

}  // namespace evictd::policy
