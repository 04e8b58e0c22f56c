// SPDX-License-Identifier: Apache-2.0
// The sentences of the event stream. Not the eviction message written to Kubernetes: that one is the policy's.
#include "sentence.hpp"

#include <type_traits>
#include <variant>

#include "evictd/model/quantity.hpp"
#include "units_text.hpp"

namespace evictd::codec {
namespace {

std::string kind_of(const Threshold& threshold) { return threshold.hard() ? "hard" : "soft"; }

std::string signal_name(const MetThreshold& met) { return std::string(name(met.threshold.signal)); }

std::string amount(const MetThreshold& met, Amount value) { return amount_text(met.threshold.signal, value); }

std::string processes_text(int count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }

// The tail of the kubelet's messages is a blank; a sentence of ours ends without one.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string phrase_of(const WatermarkCrossed& event) {
    const auto text = [&](Bytes bytes) { return amount_text(event.signal, Amount{bytes.value}); };
    return std::string(name(event.signal)) + (event.under ? " fell below " : " rose above ") + text(event.threshold) +
           ", to " + text(event.available);
}
std::string phrase_of(const OomKill& event) {
    return "the OOM killer chose " + event.comm + " (pid " + std::to_string(event.pid) + ")";
}
std::string phrase_of(const CgroupLife& event) {
    switch (event.change) {
        case CgroupChange::made:
            return "cgroup made: " + event.path;
        case CgroupChange::removed:
            return "cgroup removed: " + event.path;
        case CgroupChange::populated:
            return "first process in cgroup " + event.path;
        case CgroupChange::emptied:
            return "last process gone from cgroup " + event.path;
    }
    return {};
}
std::string phrase_of(const MemcgBreach& event) {
    return std::string(event.limit_kind == MemcgLimit::high ? "memory.high" : "memory.max") +
           " reached in a pod's cgroup: " + bytes_text(event.usage.value) + " of " + bytes_text(event.limit.value);
}
std::string phrase_of(const StallTriggered& event) { return "tasks stalled on memory (" + event.source + ")"; }
std::string phrase_of(const EventsLost& event) {
    return std::to_string(event.count) + " kernel events lost (" + event.cause + ")";
}

}  // namespace

// eviction_manager.synchronize says `Attempting to reclaim %s` when it starts on a threshold.
std::string met_sentence(const MetThreshold& met) {
    std::string text = "Attempting to reclaim " + std::string(traits(met.threshold.signal).resource) + ": " +
                       signal_name(met) + " is " + amount(met, met.available) + " of " + amount(met, met.capacity) +
                       ", below the " + kind_of(met.threshold) + " threshold of " + amount(met, met.quantity);
    if (!met.threshold.hard()) text += "; its grace period of " + to_string(met.threshold.grace_period) + " runs";
    return text;
}

std::string cleared_sentence(const MetThreshold& cleared) {
    return signal_name(cleared) + " is " + amount(cleared, cleared.available) + " of " +
           amount(cleared, cleared.capacity) + ", no longer below the " + kind_of(cleared.threshold) +
           " threshold of " + amount(cleared, cleared.quantity);
}

// nodestatus.MemoryPressureCondition and its siblings, said of the node.
std::string condition_sentence(const ConditionEdge& edge) {
    switch (edge.condition) {
        case Condition::memory_pressure:
            return edge.status ? "node has insufficient memory available" : "node has sufficient memory available";
        case Condition::disk_pressure:
            return edge.status ? "node has disk pressure" : "node has no disk pressure";
        case Condition::pid_pressure:
            return edge.status ? "node has insufficient PID available" : "node has sufficient PID available";
    }
    return {};
}

std::string reclaim_sentence(const std::vector<NodeReclaim>& reclaim) {
    std::string what;
    for (const NodeReclaim one : reclaim) what += (what.empty() ? "" : " and ") + std::string(name(one));
    return "Removing unused " + what + " before any pod is evicted";
}

std::string evicting_sentence(const Eviction& eviction, const std::string& pod, const Outcome* outcome) {
    const std::string resource(traits(eviction.threshold.threshold.signal).resource);
    const std::string signal = eviction.immediate ? "SIGKILL" : "SIGTERM";
    const std::string why =
        eviction.message.empty() ? "The node was low on resource: " + resource + "." : eviction.message;
    std::string text = trimmed(why) + " ";
    if (outcome == nullptr) return text + "Evicting " + pod;
    switch (outcome->status) {
        case OutcomeStatus::failed:
            return text + "Sending " + signal + " to " + pod + " failed";
        case OutcomeStatus::vanished:
            return text + pod + " was already gone";
        case OutcomeStatus::dry_run:
            return text + "Dry run: would have sent " + signal + " to " + pod;
        case OutcomeStatus::delivered:
            break;
    }
    text += "Sent " + signal + " to " + pod;
    if (outcome->processes > 0) text += " (" + processes_text(outcome->processes) + ")";
    if (!eviction.immediate) text += ", SIGKILL follows in " + to_string(eviction.grace_period);
    return text;
}

std::string evicted_sentence(const Victim& victim, bool dry_run) {
    if (dry_run) return "Dry run: pod " + victim.pod_name + " would have been evicted; nothing was touched";
    const std::string pod = "Pod " + victim.pod_name;
    const bool killed = victim.killed_at != MonotonicTime{};
    if (!victim.eviction.immediate && !killed) return pod + " ended by itself within its grace period";
    std::string text = pod + " is gone";
    if (!victim.eviction.immediate) {
        text = pod + " outlasted its grace period of " + to_string(victim.eviction.grace_period) + " and was killed";
    }
    if (killed && victim.emptied_at > victim.killed_at) {
        text += ": its last process ended " + latency_text(victim.emptied_at - victim.killed_at) + " after SIGKILL";
    }
    return text;
}

std::string failed_sentence(const Victim& victim) {
    return "Pod " + victim.pod_name + " could not be evicted" + (victim.error.empty() ? "" : ": " + victim.error);
}

// The kubelet's OOM watcher: `System OOM encountered, victim process: %s, pid: %d`. It is silent about cgroup limits.
std::string oom_sentence(const OomKill& kill, const std::string& pod) {
    std::string text =
        (kill.memcg ? "Memory cgroup out of memory, victim process: " : "System OOM encountered, victim process: ") +
        kill.comm + ", pid: " + std::to_string(kill.pid);
    if (!pod.empty()) text += ", of pod " + pod;
    if (kill.memcg && kill.limit.value > 0) {
        text += "; its cgroup used " + bytes_text(kill.usage.value) + " of " + bytes_text(kill.limit.value);
    }
    return text;
}

std::string lost_sentence(const EventsLost& lost) {
    return std::to_string(lost.count) + (lost.count == 1 ? " kernel event was" : " kernel events were") +
           " lost: " + lost.cause;
}

std::string phrase(const KernelEvent& event) {
    return std::visit([](const auto& kind) { return phrase_of(kind); }, event.kind);
}

}  // namespace evictd::codec
