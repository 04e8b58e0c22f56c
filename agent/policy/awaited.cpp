// SPDX-License-Identifier: Apache-2.0
#include "awaited.hpp"

#include <algorithm>

#include "moments.hpp"
#include "phrases.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A manifest that comes causes a look by itself. This one sees that the pod ended or shrank: as often again, and looks
// cost more CPU time; half as often, and pressure lasts longer than it has to.
constexpr Duration look_while_awaited = 50ms;
// As the agent looks at other pressure that lasts.
constexpr Duration look_without_usage = 100ms;

}  // namespace

std::optional<AwaitedPod> awaited_before(const ObservedPod& first, const Observation& observation, const State& state) {
    const Bytes held = first.usage ? first.usage->working_set : Bytes{0};
    const auto waiting_until = after(state.awaiting_since.value_or(observation.at), unknown_pod_period);
    std::optional<AwaitedPod> awaited;
    for (const auto& unknown : observation.unknown_pods) {
        if (!unknown.populated || unknown.working_set <= held) continue;
        if (awaited && unknown.working_set <= awaited->unknown.working_set) continue;
        const auto until = std::min(after(unknown.first_seen, unknown_pod_period), waiting_until);
        if (observation.at < until) awaited = AwaitedPod{unknown, first.pod->uid, until};
    }
    return awaited;
}

void remember_waiting(const Decision& decision, MonotonicTime now, State& state) {
    const bool pressure = !decision.thresholds_met.empty() || !decision.stalls_met.empty();
    if (decision.evict || !pressure) {
        state.awaiting_since.reset();
    } else if (decision.awaited && !state.awaiting_since) {
        state.awaiting_since = now;
    }
}

std::optional<MonotonicTime> next_awaited_clock(Course course, const Decision& decision, MonotonicTime now) {
    if (course == Course::usage_unknown) return after(now, look_without_usage);
    if (!decision.awaited) return std::nullopt;
    return std::min(decision.awaited->until, after(now, look_while_awaited));
}

std::string say_awaited(const AwaitedPod& awaited, const Observation& observation) {
    const auto first = std::find_if(observation.pods.begin(), observation.pods.end(), [&](const ObservedPod& observed) {
        return observed.pod && observed.pod->uid == awaited.first;
    });
    const std::string name = first == observation.pods.end() ? awaited.first.value : first->pod->full_name();
    return "a pod whose manifest is not known yet (UID " + awaited.unknown.pod.value + ") holds " +
           say_amount({awaited.unknown.working_set.value}, Quantity::Format::binary_si) + ", more than " + name +
           ", which would be evicted; no pod is evicted for memory before the manifest is known, or in the next " +
           say_duration(awaited.until - observation.at);
}

}  // namespace evictd::policy
