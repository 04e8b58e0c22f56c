// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel_events.hpp"

#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "event_id.hpp"
#include "evictd/model/text.hpp"
#include "sentence.hpp"

namespace evictd::codec {
namespace {

std::string phrase_of(const WatermarkCrossed& event) {
    const auto text = [&](Bytes bytes) { return amount_text(event.signal, Amount{bytes.value}); };
    return std::string(name(event.signal)) + (event.under ? " fell below " : " rose above ") + text(event.threshold) +
           ", to " + text(event.available);
}
std::string phrase_of(const OomKill& event) {
    return fmt::format("the OOM killer chose {} (pid {})", event.comm, event.pid);
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
           (event.pod_cgroup == CgroupId{} ? " reached by the pods' cgroup: " : " reached in a pod: ") +
           bytes_text(event.usage.value) + " of " + bytes_text(event.limit.value);
}
std::string phrase_of(const StallTriggered& event) { return "tasks stalled on memory (" + event.source + ")"; }
std::string phrase_of(const SocketMemoryShort& event) {
    return "a " + event.protocol + " socket was refused memory: such sockets use " + bytes_text(event.used.value) +
           " of " + bytes_text(event.limit.value);
}

std::string phrase_of(const StallCrossed& event) {
    return std::string("tasks ") + (event.cgroup == CgroupId{} ? "of the node" : "of a pod") +
           (event.over ? " stalled on memory for " : " stalled on memory for only ") +
           share_text(event.lost, event.window) + " of the last " + std::string(name(event.window));
}
std::string phrase_of(const EventsLost& event) {
    return fmt::format("{} kernel events lost ({})", event.count, event.cause);
}
std::string phrase_of(const OomScoreChanged& event) {
    return fmt::format("oom_score_adj of pid {} is now {}", event.pid, event.oom_score_adj);
}

// No pod's process: it has no container either, and what it was to its cgroup tells nothing.
bool is_outside_pods(const OomKill& kill) { return kill.pod.value.empty() && kill.pod_cgroup == CgroupId{}; }

// A dead child is what people miss: the container keeps running, and no restart reports it.
std::string consequence_of(const OomKill& kill) {
    if (kill.group) return "; all processes of its cgroup are killed with it (memory.oom.group)";
    if (is_outside_pods(kill)) return {};
    switch (kill.role) {
        case OomRole::first_process:
            return "; it was the container's main process, and the container ends with it";
        case OomRole::child:
            return "; it was not the container's main process; the container keeps running";
        case OomRole::unknown:
            break;
    }
    return {};
}

// The kubelet's OOM watcher: `System OOM encountered, victim process: %s, pid: %d`. It is silent about cgroup limits.
std::string oom_sentence(const OomKill& kill, const std::string& pod) {
    std::string text =
        fmt::format("{}, victim process: {}, pid: {}",
                    kill.memcg ? "Memory cgroup out of memory" : "System OOM encountered", kill.comm, kill.pid);
    if (!kill.container.empty()) {
        text += ", of container " + kill.container;
    } else if (!kill.container_cgroup.empty()) {
        text += ", of cgroup " + kill.container_cgroup;
    }
    if (!pod.empty()) text += (kill.container.empty() ? ", of pod " : " of pod ") + pod;
    if (is_outside_pods(kill)) text += ", not in any known pod";
    if (kill.memcg && kill.limit.value > 0) {
        text += "; its cgroup used " + bytes_text(kill.usage.value) + " of " + bytes_text(kill.limit.value);
    }
    return text + consequence_of(kill);
}

EventOom event_oom(const OomKill& kill) {
    EventOom oom{.process = kill.comm,
                 .pid = kill.pid,
                 .oom_score_adj = kill.oom_score_adj,
                 .container = kill.container,
                 .cgroup = kill.container_cgroup,
                 .role = is_outside_pods(kill)                 ? ""
                         : kill.role == OomRole::first_process ? "first_process"
                         : kill.role == OomRole::child         ? "child"
                                                               : "",
                 .group = kill.group,
                 .memcg = kill.memcg,
                 .usage = std::nullopt,
                 .limit = std::nullopt};
    if (kill.memcg) {
        oom.usage = kill.usage;
        oom.limit = kill.limit;
    }
    return oom;
}

void tell(const OomKill& kill, const KernelEvent& kernel, const std::string& pod, Event& event) {
    event.reason = Reason::oom_killing;
    event.message = oom_sentence(kill, pod);
    event.oom = event_oom(kill);
    event.id = oom_id(kill, kernel.time);
}

std::string limit_sentence(const MemcgBreach& breach, const std::string& pod) {
    const bool of_pod = breach.container_cgroup.empty() && breach.container.empty();
    const std::string unknown = of_pod ? "An unknown pod" : "an unknown pod";
    const std::string uid = (of_pod ? "Pod with UID " : "pod with UID ") + breach.pod.value;
    const std::string named = (of_pod ? "Pod " : "pod ") + pod;
    const std::string whose = !pod.empty() ? named : breach.pod.value.empty() ? unknown : uid;
    const std::string part = of_pod                     ? ""
                             : breach.container.empty() ? "Cgroup " + breach.container_cgroup + " of "
                                                        : "Container " + breach.container + " of ";
    std::string text = part + whose + " reached its memory limit of " + bytes_text(breach.limit.value);
    if (breach.hits > 1)
        text += "; limits of the pod were hit " + std::to_string(breach.hits) + " times since the last such event";
    return text;
}

// The root's is about no pod: it is why the agent looks.
void tell(const MemcgBreach& breach, const KernelEvent& /*kernel*/, const std::string& pod, Event& event) {
    if (breach.pod_cgroup == CgroupId{} || breach.limit_kind != MemcgLimit::max) return;
    event.reason = Reason::pod_at_memory_limit;
    event.message = limit_sentence(breach, pod);
    event.container = breach.container;
    event.limit = breach.limit;
    event.count = breach.hits;
}

std::string socket_memory_sentence(const SocketMemoryShort& memory, const std::string& pod) {
    const std::string socket = "a " + memory.protocol + " socket" + (pod.empty() ? "" : " of pod " + pod);
    const std::string figures = bytes_text(memory.used.value) + " (pressure from " + bytes_text(memory.pressure.value) +
                                ", limit " + bytes_text(memory.limit.value) + ")";
    if (memory.of_node()) {
        return "The node is short of memory for " + memory.protocol + " sockets: they use " + figures + "; " + socket +
               " was refused some";
    }
    return "The cgroup of pod " + (pod.empty() ? std::string("unknown") : pod) +
           " is short of memory for its sockets: " + socket + " was refused some; all " + memory.protocol +
           " sockets of the node use " + figures;
}

void tell(const SocketMemoryShort& memory, const KernelEvent& /*kernel*/, const std::string& pod, Event& event) {
    event.reason = Reason::socket_memory_pressure;
    event.message = socket_memory_sentence(memory, pod);
}

void tell(const EventsLost& lost, const KernelEvent& /*kernel*/, const std::string& /*pod*/, Event& event) {
    event.reason = Reason::kernel_events_lost;
    event.message =
        fmt::format("{} kernel {} lost: {}", lost.count, lost.count == 1 ? "event was" : "events were", lost.cause);
    event.cause = lost.cause;
}

template <class Kind>
concept Published = requires(const Kind& kind, const KernelEvent& kernel, Event& event) {
    tell(kind, kernel, std::string(), event);
};

}  // namespace

void tell_kernel_event(const KernelEvent& kernel, const std::string& pod, Event& event) {
    const auto one = [&]<class Kind>(const Kind& kind) {
        if constexpr (Published<Kind>) {
            event.severity = Severity::warning;
            event.cause = phrase(kernel);
            tell(kind, kernel, pod, event);
        }
    };
    std::visit(one, kernel.kind);
}

PodUid pod_told_of(const KernelEvent& kernel) {
    return std::visit(
        []<class Kind>(const Kind& kind) {
            if constexpr (requires { kind.pod; })
                return kind.pod;
            else
                return PodUid{};
        },
        kernel.kind);
}

std::string phrase(const KernelEvent& event) {
    return std::visit([](const auto& kind) { return phrase_of(kind); }, event.kind);
}

}  // namespace evictd::codec
