// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/documents.hpp"

#include <fmt/format.h>

namespace evictd::demo {
namespace {

std::string mebibytes(Bytes bytes) { return std::to_string(bytes.value >> 20U) + "Mi"; }

// Requests equal to limits, of CPU too, are what makes a pod Guaranteed.
std::string resources(const PodPlan& pod) {
    const std::string list = "{cpu: 50m, memory: " + mebibytes(pod.request) + "}";
    switch (pod.qos) {
        case QosClass::guaranteed:
            return "{requests: " + list + ", limits: " + list + "}";
        case QosClass::burstable:
            return "{requests: " + list + "}";
        case QosClass::best_effort:
            break;
    }
    return "{}";
}

// Paths come from TMPDIR: anything may stand in them.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? "''" : std::string(1, c);
    }
    return result + "'";
}

}  // namespace

std::string manifest(const Plan& plan, const PodPlan& pod) {
    const auto grace = plan.pod_grace.count() > 0 ? plan.pod_grace : std::chrono::seconds(30);
    return fmt::format(R"(apiVersion: v1
kind: Pod
metadata: {{name: {}, namespace: {}, uid: {}}}
spec:
{}  priority: {}
  terminationGracePeriodSeconds: {}
  containers:
  - name: app
    image: evictd-demo
    resources: {}
status: {{phase: Running, startTime: "2026-01-01T00:00:00Z"}}
)",
                       pod.name, pod.name_space, pod.uid,
                       pod.critical ? "  priorityClassName: system-node-critical\n" : "", pod.priority, grace.count(),
                       resources(pod));
}

std::string agent_config(const Plan& plan, const AgentPlaces& places, bool bpf) {
    // 0 % is the kubelet's way to have none; naming one drops the defaults.
    std::string text = plan.hard > Bytes{0}
                           ? "evictionHard: {allocatableMemory.available: " + mebibytes(plan.hard) + "}\n"
                           : "evictionHard: {memory.available: 0%}\n";
    if (plan.soft) {
        text += "evictionSoft: {allocatableMemory.available: " + mebibytes(*plan.soft) + "}\n";
        text += "evictionSoftGracePeriod: {allocatableMemory.available: " + std::to_string(plan.soft_grace.count()) +
                "s}\n";
        text += "evictionMaxPodGracePeriod: " + std::to_string(plan.pod_grace.count()) + "\n";
    }
    const std::string stalls =
        plan.stall > 0 ? "\n  psi: [{resource: memory, share: " + std::to_string(plan.stall) + "%, window: 1s}]" : "";
    return text + "cgroupRoot: " + quoted(places.cgroup_root) + "\nevictd:\n  bpf: " + (bpf ? "auto" : "off") + stalls +
           (plan.neighbour ? "\n  sockets: {shed: true}" : "") + "\n  bpffsPath: " + quoted(places.bpffs) +
           "\n  podManifestPath: " + quoted(places.manifests()) + "\n  socketPath: " + quoted(places.socket()) +
           "\n  statePath: " + quoted(places.directory + "/state") +
           (plan.steering ? "" : "\n  oomScoreAdjSteering: false") +
           "\n  eventLog: {path: " + quoted(places.directory + "/events.jsonl") + ", stdout: true}\n";
}

}  // namespace evictd::demo
