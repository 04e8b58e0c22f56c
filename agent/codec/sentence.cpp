// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The sentences of the event stream. Not the eviction message written to Kubernetes: that one is the policy's.
#include "sentence.hpp"

#include <type_traits>
#include <variant>

#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"

namespace evictd::codec {
namespace {

std::string kind_of(const Threshold& threshold) { return threshold.hard() ? "hard" : "soft"; }

std::string signal_name(const MetThreshold& met) { return std::string(name(met.threshold.signal)); }

std::string amount(const MetThreshold& met, Amount value) { return amount_text(met.threshold.signal, value); }

// "100Mi", or "30s left".
std::string line_of(const MetThreshold& met) {
    const auto time = met.threshold.time_left;
    return time != Duration::zero() ? to_string(time) + " left" : amount(met, met.quantity);
}

// The tail of the kubelet's messages is a blank; a sentence of ours ends without one.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace

// eviction_manager.synchronize says `Attempting to reclaim %s` when it starts on a threshold.
std::string met_sentence(const MetThreshold& met) {
    std::string text = "Attempting to reclaim " + std::string(traits(met.threshold.signal).resource) + ": " +
                       signal_name(met) + " is " + amount(met, met.available) + " of " + amount(met, met.capacity);
    if (met.threshold.time_left != Duration::zero()) {
        text += " and used up in " + span_text(met.time_left()) + " at this rate";
    }
    text += ", below the " + kind_of(met.threshold) + " threshold of " + line_of(met);
    if (!met.threshold.hard()) text += "; its grace period of " + to_string(met.threshold.grace_period) + " runs";
    return text;
}

std::string cleared_sentence(const MetThreshold& cleared) {
    return signal_name(cleared) + " is " + amount(cleared, cleared.available) + " of " +
           amount(cleared, cleared.capacity) + ", no longer below the " + kind_of(cleared.threshold) +
           " threshold of " + line_of(cleared);
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

std::string share_text(Duration lost, StallWindow window) {
    const auto tenths = lost / (length(window) / 1000);
    return std::to_string(tenths / 10) + (tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10)) + "%";
}

std::string stall_sentence(const StallEdge& edge, const std::string& pod) {
    const auto& threshold = edge.stall.threshold;
    const std::string line =
        "threshold " + share_text(line_of(threshold), threshold.window) + (threshold.hard() ? ", hard" : ", soft");
    const std::string whose = pod.empty() ? "of the node" : "of pod " + pod;
    const std::string resource(name(threshold.resource));
    const std::string window(name(threshold.window));
    if (!edge.met) {
        return "Tasks " + whose + " no longer stall on " + resource + " for as long as the threshold says (" +
               std::string(name(threshold.kind)) + ", " + line + ", of " + window + ")";
    }
    std::string text = "Tasks " + whose + " stalled on " + resource + " for " +
                       share_text(edge.stall.lost, threshold.window) + " of the last " + window + " (" +
                       std::string(name(threshold.kind)) + "; " + line + ")";
    if (!threshold.hard()) text += "; its grace period of " + to_string(threshold.grace_period) + " runs";
    return text;
}

std::string reclaim_sentence(const std::vector<NodeReclaim>& reclaim, const GarbageList& removals, bool dry_run) {
    std::string what;
    for (std::size_t i = 0; i < reclaim.size(); ++i) {
        what += (i == 0 ? "" : i + 1 == reclaim.size() ? " and " : ", ") + std::string(name(reclaim[i]));
    }
    return (dry_run ? "Dry run: would remove unused " : "Removing unused ") + what + " before any pod is evicted" +
           (removals.empty() ? "" : ": " + say_garbage({removals.begin(), removals.end()}));
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
        case OutcomeStatus::refused:
            return text + pod + " is not evicted, because evictd runs in it";
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

// To tenths of a second.
Duration rounded_up(Duration span) { return std::chrono::ceil<std::chrono::duration<std::int64_t, std::deci>>(span); }

std::string delayed_sentence(const AwaitedPods& awaited, const std::string& first, const std::string& largest,
                             MonotonicTime now) {
    const bool one = awaited.count == 1;
    return "The eviction of pod " + first + " is delayed for at most " + to_string(rounded_up(awaited.until - now)) +
           ": " + (one ? "a pod whose manifest is" : std::to_string(awaited.count) + " pods whose manifests are") +
           " not known yet (" + (one ? "" : "the largest: ") + (largest.empty() ? "" : largest + ", ") + "UID " +
           awaited.largest.pod.value + ") " + (one ? "holds " : "hold ") + bytes_text(awaited.together.value) +
           " and may rank before it";
}

std::string delayed_sentence(const UnknownDiskUsage& unknown, const std::string& first, MonotonicTime now) {
    const auto others = unknown.count - 1;
    const std::string pods =
        "pod " + first + (others == 0 ? "" : " and " + std::to_string(others) + (others == 1 ? " other" : " others"));
    return "Evictions for disk are delayed for at most " + to_string(rounded_up(unknown.until - now)) +
           ": the disk usage of " + pods + " is not known yet";
}

std::string evicted_sentence(const Victim& victim, const KillRounds* rounds, bool dry_run) {
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
    // A process that was not listed before may have been forked, moved there, or missed: only what was done is said.
    if (rounds != nullptr && rounds->appeared) {
        text +=
            "; SIGKILL was sent again " + std::to_string(rounds->rounds) + (rounds->rounds == 1 ? " time" : " times");
        if (rounds->frozen > 0) {
            text += ", " + std::to_string(rounds->frozen) + " of them with the pod frozen";
        }
    }
    return text;
}

std::string failed_sentence(const Victim& victim) {
    return "Pod " + victim.pod_name + " could not be evicted" + (victim.error.empty() ? "" : ": " + victim.error);
}

std::string shed_sentence(const ShedEdge& edge, bool dry_run) {
    const std::string& pod = edge.pod.pod_name;
    if (!edge.error.empty()) return "Could not keep pod " + pod + " from new sockets";
    if (dry_run && edge.begun) return "Dry run: pod " + pod + " would get no new sockets while memory is short";
    if (dry_run) return "Dry run: pod " + pod + " would get new sockets again";
    if (edge.begun) return "Pod " + pod + " gets no new sockets (EPERM) while memory is short; open ones stay open";
    return "Pod " + pod + " gets new sockets again; " + std::to_string(edge.refused) +
           (edge.refused == 1 ? " was" : " were") + " refused";
}

}  // namespace evictd::codec
