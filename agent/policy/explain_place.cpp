// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A pod's place in the victim order, in words.
#include "evictd/model/pod_requests.hpp"
#include "evictd/model/text.hpp"
#include "explain.hpp"
#include "phrases.hpp"

namespace evictd::policy {
namespace {

std::string unknown_use(Signal signal) {
    if (signal == Signal::pid_available) return " goes first of its priority: its processes are not known";
    return " goes before all pods whose usage is known: its own is not";
}

// What the order of `signal` looks at in a pod.
std::string use_of(Signal signal, const RankedPod& ranked, const Pod& pod) {
    const auto resource = traits(signal).resource;
    if (resource == "pids") return " runs " + std::to_string(ranked.usage.value) + " processes";
    if (resource == "inodes") {
        const std::int64_t request = pod_request(pod, &ResourceList::ephemeral_storage).value();
        return " uses " + std::to_string(ranked.usage.value) + " inodes" +
               (request == 0 ? "" : ", less the bytes of its ephemeral-storage request, " + bytes_text(request));
    }
    if (!ranked.exceeds_request) {
        return " uses " + bytes_text(ranked.usage.value) + ", within its request of " +
               bytes_text(ranked.request.value);
    }
    return " uses " + bytes_text(ranked.usage.value) + ", " + bytes_text(ranked.usage.value - ranked.request.value) +
           " over its request";
}

}  // namespace

std::string place(Signal signal, const RankedPod& ranked, const Observation& observation) {
    const Pod& pod = *observation.pods[ranked.pod].pod;
    std::string said = pod.full_name() + (ranked.has_usage ? use_of(signal, ranked, pod) : unknown_use(signal));
    said += "; priority " + std::to_string(ranked.priority);
    if (ranked.exemption == Exemption::failed_before) return said + "; evicting it failed: others go first";
    if (ranked.exemption != Exemption::none) {
        said += "; not evicted: " + std::string(exemption_words[static_cast<std::size_t>(ranked.exemption)]);
    }
    return said;
}

}  // namespace evictd::policy
