// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Tick -> events: every reason of the stream that comes from a look, but the ladder's (event_rung.cpp), the kernel's
// (kernel_events.cpp) and others of event_*.cpp. The sentences are sentence.cpp's.
#include "event.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "event_ended.hpp"
#include "event_id.hpp"
#include "event_latency.hpp"
#include "event_notice.hpp"
#include "event_owed.hpp"
#include "event_reclaim.hpp"
#include "event_removal.hpp"
#include "event_rung.hpp"
#include "kernel_events.hpp"
#include "sentence.hpp"

namespace evictd::codec {
namespace {

const ObservedPod* find_pod(const Observation& observation, const PodUid& uid) {
    const auto found = std::find_if(observation.pods.begin(), observation.pods.end(),
                                    [&](const ObservedPod& pod) { return pod.pod && pod.pod->uid == uid; });
    return found == observation.pods.end() ? nullptr : &*found;
}

EventPod pod_of(const Victim& victim) {
    const auto slash = victim.pod_name.find('/');
    const bool has_space = slash != std::string::npos;
    return {has_space ? victim.pod_name.substr(0, slash) : "",
            has_space ? victim.pod_name.substr(slash + 1) : victim.pod_name, victim.pod.value, victim.qos,
            victim.priority};
}

EventThreshold event_threshold(const MetThreshold& met) {
    return {met.threshold.hard(),       met.quantity,           met.available, met.capacity,
            met.threshold.grace_period, met.threshold.time_left};
}

std::string cause_text(const Cause& cause) {
    return cause.kind == CauseKind::kernel_event && cause.event ? phrase(*cause.event) : "";
}

Reason reason_of(const ConditionEdge& edge) {
    switch (edge.condition) {
        case Condition::memory_pressure:
            return edge.status ? Reason::node_has_memory_pressure : Reason::node_has_no_memory_pressure;
        case Condition::disk_pressure:
            return edge.status ? Reason::node_has_disk_pressure : Reason::node_has_no_disk_pressure;
        case Condition::pid_pressure:
            break;
    }
    return edge.status ? Reason::node_has_pid_pressure : Reason::node_has_no_pid_pressure;
}

class TickEvents {
public:
    explicit TickEvents(const Tick& tick) : tick_(tick) {}

    std::vector<Event> all() {
        for (const auto& event : tick_.kernel_events) kernel_event(event);
        for (const auto& edge : tick_.decision.threshold_edges) threshold(edge);
        for (const auto& edge : tick_.decision.stall_edges) stall(edge);
        for (const auto& edge : tick_.decision.condition_edges) condition(edge);
        add_reclaim(tick_, events_);
        for (const auto& eviction : tick_.decision.limit_evictions) evicting(eviction);
        if (tick_.decision.evict) evicting(*tick_.decision.evict);
        for (const auto& rejection : tick_.decision.rejections) evicting(rejection);
        for (const auto& edge : tick_.shed) shed(edge);
        for (const auto& outcome : tick_.observation.rungs) rung(outcome);
        if (const auto& awaited = tick_.decision.awaited; awaited && awaited->fresh) delayed(*awaited);
        if (const auto& unknown = tick_.decision.disk_unknown; unknown && unknown->fresh) delayed(*unknown);
        for (const auto& victim : tick_.decision.failed) finished(victim);
        for (const auto& victim : tick_.decision.finished) finished(victim);
        for (const auto& owed : tick_.decision.owed) not_returned(owed);
        for (const auto& step : tick_.decision.end_steps) end_step(step);
        for (const auto& removal : tick_.decision.removals) add_removal(removal, tick_, events_);
        for (auto& event : events_) add_history(event);
        std::stable_sort(events_.begin(), events_.end(),
                         [](const Event& a, const Event& b) { return a.time < b.time; });
        return std::move(events_);
    }

private:
    Event& add(Severity severity, EventReason reason, MonotonicTime at) {
        return events_.emplace_back(new_event(tick_, severity, std::move(reason), at));
    }

    void add_history(Event& event) const {
        for (const auto& history : tick_.histories) {
            if (history && !event.id.empty() && history->id == event.id) event.history = history;
        }
    }

    void kernel_event(const KernelEvent& kernel) {
        Event& event = add(Severity::warning, {}, kernel.time);
        const PodUid pod = pod_told_of(kernel);
        tell_kernel_event(kernel, pod.value.empty() ? std::string() : name_pod(event, pod), event);
        if (!event.pod) event.unknown_pod = pod;
        if (event.reason.text().empty()) events_.pop_back();
    }

    // From the kernel's crossing to the first socket that is refused, or no longer.
    void shed(const ShedEdge& edge) {
        Event& event = add(edge.begun ? Severity::warning : Severity::normal,
                           edge.begun ? Reason::sockets_shed : Reason::sockets_restored, edge.at);
        event.message = shed_sentence(edge, tick_.dry_run);
        event.cause = cause_text(tick_.observation.cause);
        event.error = edge.error;
        if (edge.error.empty()) event.latency = latency_to_kill(tick_.observation.cause, tick_.decided_at, edge.at);
        name_pod(event, edge.pod.pod);
    }

    void rung(const RungOutcome& outcome) {
        if (!is_told(outcome)) return;
        const bool relieved = tick_.decision.thresholds_met.empty() && tick_.decision.thresholds_pending.empty();
        Event& event = add(Severity::normal, rung_reason(outcome, relieved), outcome.at);
        tell_rung(outcome, relieved, event);
        name_pod(event, outcome.rung.pod);
    }

    // Whose event it is, if the pod is known, or the container runtime names it: namespace/name, else empty.
    std::string name_pod(Event& event, const PodUid& uid) const {
        const ObservedPod* pod = find_pod(tick_.observation, uid);
        if (pod == nullptr) return name_by_runtime(event, uid);
        event.pod = with_qos(event_pod(*pod->pod), pod - tick_.observation.pods.data());
        return pod->pod->full_name();
    }

    // It knows neither class nor priority.
    std::string name_by_runtime(Event& event, const PodUid& uid) const {
        const NamedPod* pod = named_pod(tick_.runtime_names.get(), uid);
        if (pod == nullptr) return {};
        event.pod = EventPod{pod->name_space, pod->name, pod->uid.value, std::nullopt, std::nullopt};
        event.pod_is_unlisted = true;
        return pod->full_name();
    }

    // The class is the policy's to say, and it says it in the ranking.
    [[nodiscard]] EventPod with_qos(EventPod pod, std::ptrdiff_t index) const {
        for (const auto& row : tick_.decision.ranking) {
            if (row.pod == static_cast<std::uint32_t>(index)) pod.qos = row.qos;
        }
        return pod;
    }

    void threshold(const ThresholdEdge& edge) {
        Event& event =
            add(edge.met ? Severity::warning : Severity::normal,
                edge.met ? Reason::eviction_threshold_met : Reason::eviction_threshold_cleared, tick_.observation.at);
        event.message = edge.met ? met_sentence(edge.threshold) : cleared_sentence(edge.threshold);
        event.signal = edge.threshold.threshold.signal;
        event.threshold = event_threshold(edge.threshold);
        event.cause = cause_text(tick_.observation.cause);
    }

    // MemoryStall for memory, and by the same pattern for the others.
    void stall(const StallEdge& edge) {
        constexpr std::array<Reason, stall_resource_count> reasons{Reason::memory_stall, Reason::io_stall,
                                                                   Reason::cpu_stall};
        Event& event = add(edge.met ? Severity::warning : Severity::normal,
                           reasons.at(static_cast<std::size_t>(edge.stall.threshold.resource)), tick_.observation.at);
        event.message = stall_sentence(edge, name_pod(event, edge.stall.pod));
        event.cause = cause_text(tick_.observation.cause);
    }

    void condition(const ConditionEdge& edge) {
        const std::string type(name(edge.condition));
        Event& event = add(edge.status ? Severity::warning : Severity::normal, reason_of(edge), tick_.observation.at);
        event.message = condition_sentence(edge);
        event.condition = EventCondition{type, edge.status};
    }

    void evicting(const Eviction& eviction) {
        const auto outcome = std::find_if(tick_.outcomes.begin(), tick_.outcomes.end(),
                                          [&](const Outcome& o) { return o.action.pod == eviction.pod; });
        const Outcome* done = outcome == tick_.outcomes.end() ? nullptr : &*outcome;
        const bool signalled = done != nullptr && done->status == OutcomeStatus::delivered;
        const bool is_rejection = !eviction.rejected_for.empty();
        Event& event = add(Severity::warning, is_rejection ? Reason::pod_not_admitted : Reason::evicting,
                           signalled ? done->delivered_at : tick_.decided_at);
        const std::string pod_name = name_pod(event, eviction.pod);
        event.message = evicting_sentence(eviction, pod_name.empty() ? eviction.pod.value : pod_name, done);
        event.id = eviction_id(eviction.pod, tick_.observation.cause);
        tell_threshold(eviction, event);
        event.cause = cause_text(tick_.observation.cause);
        event.latency = latency_to_kill(tick_.observation.cause, done != nullptr ? done->decided_at : tick_.decided_at,
                                        signalled ? done->delivered_at : MonotonicTime{});
        if (done != nullptr) event.error = done->error;
    }

    void delayed(const AwaitedPods& awaited) {
        Event& event = add(Severity::warning, Reason::eviction_delayed, tick_.decided_at);
        const std::string first = name_pod(event, awaited.first);
        const NamedPod* largest = named_pod(tick_.runtime_names.get(), awaited.largest.pod);
        event.message = delayed_sentence(awaited, first.empty() ? awaited.first.value : first,
                                         largest != nullptr ? largest->full_name() : "", tick_.observation.at);
        event.cause = cause_text(tick_.observation.cause);
    }

    void delayed(const UnknownDiskUsage& unknown) {
        Event& event = add(Severity::warning, Reason::eviction_delayed, tick_.decided_at);
        const std::string first = name_pod(event, tick_.observation.pods[unknown.first].pod->uid);
        event.message = delayed_sentence(unknown, first, tick_.observation.at);
        event.signal = tick_.decision.ranked_by;
        event.cause = cause_text(tick_.observation.cause);
    }

    // A limit of the pod's own is no threshold of the node's, and a stall is no amount: the message tells of it.
    static void tell_threshold(const Eviction& eviction, Event& event) {
        if (eviction.broken_limit || eviction.stall || !eviction.rejected_for.empty()) return;
        event.signal = eviction.threshold.threshold.signal;
        event.threshold = event_threshold(eviction.threshold);
    }

    void finished(const Victim& victim) {
        const bool failed = victim.failed || !victim.error.empty();
        Event& event = add(Severity::warning, failed ? Reason::eviction_failed : Reason::evicted, victim.emptied_at);
        const auto known = std::find_if(tick_.killed_in.begin(), tick_.killed_in.end(),
                                        [&](const KilledIn& by) { return by.pod == victim.pod; });
        const KillRounds* rounds = known == tick_.killed_in.end() ? nullptr : &known->rounds;
        event.message = failed ? failed_sentence(victim) : evicted_sentence(victim, rounds, tick_.dry_run);
        event.id = eviction_id(victim.pod, victim.cause);
        tell_threshold(victim.eviction, event);
        event.pod = pod_of(victim);
        event.cause = cause_text(victim.cause);
        event.latency = latency_of(victim);
        event.error = victim.error;
        if (!failed && !tick_.dry_run) event.reclaimed = victim.usage;
    }

    void end_step(const EndStep& step) {
        const auto [severity, reason] = event_of(step);
        tell_end_step(step, add(severity, reason, step.at));
    }

    void not_returned(const OwedMemory& owed) {
        if (!owed.fresh) return;
        const auto held = std::find_if(tick_.held.begin(), tick_.held.end(),
                                       [&](const HeldBy& by) { return by.cgroup == owed.cgroup; });
        Event& event = add(Severity::warning, Reason::memory_not_returned, tick_.observation.at);
        tell_owed(owed, held == tick_.held.end() ? nullptr : &held->memory, event);
        name_pod(event, owed.pod);
        event.cause = cause_text(owed.cause);
    }

    const Tick& tick_;
    std::vector<Event> events_;
};

}  // namespace

Event new_event(const Tick& tick, Severity severity, EventReason reason, MonotonicTime at) {
    Event event;
    event.time = wall_time(tick.observation, at == MonotonicTime{} ? tick.observation.at : at);
    event.severity = severity;
    event.reason = std::move(reason);
    event.dry_run = tick.dry_run;
    return event;
}

EventPod event_pod(const Pod& pod) {
    return {pod.name_space, pod.name, pod.uid.value, std::nullopt, pod.priority.value_or(0)};
}

std::vector<Event> events_of(const Record& record) {
    if (const auto* tick = std::get_if<Tick>(&record)) return TickEvents(*tick).all();
    return {notice_event(std::get<AgentNotice>(record))};
}

}  // namespace evictd::codec
