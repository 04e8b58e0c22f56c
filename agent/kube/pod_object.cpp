// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The parts of a v1 Pod put together. What is checked is what would make evictd act on the wrong thing: identity, names
// and amounts.
#include "kube/pod_object.hpp"

#include "evictd/model/text.hpp"
#include "kube/pod_allocation.hpp"
#include "kube/pod_defaults.hpp"
#include "kube/pod_metadata.hpp"
#include "kube/pod_spec.hpp"
#include "kube/pod_status.hpp"

namespace evictd::kube {
namespace {

// More than one person fixes at once. A hostile manifest must not use up the events of the others.
constexpr std::size_t most_faults_of_a_pod = 8;

void check_type(const Value& object) {
    const auto version = object["apiVersion"].text();
    const auto kind = object["kind"].text();
    if (version && *version != "v1")
        object["apiVersion"].refuse("unsupported apiVersion " + in_quotes(*version), "expected v1");
    if (kind && *kind != "Pod") object["kind"].refuse("unsupported kind " + in_quotes(*kind), "expected Pod");
}

}  // namespace

std::optional<Pod> read_pod(const Value& object, const PodRules& rules) {
    document::Reading& reading = object.reading();
    const std::size_t before = reading.refusals();
    const std::size_t most = reading.allow_faults(most_faults_of_a_pod);
    Pod pod;
    pod.source = rules.source;
    if (!object.present()) object.refuse("missing", "a Pod is a map with metadata and spec");
    check_type(object);
    if (reading.refusals() > before) {
        reading.limit_faults(most);
        return std::nullopt;  // it is no pod: what it lacks of one is not at fault
    }
    read_metadata(object["metadata"], rules, pod);
    read_spec(object["spec"], rules, pod);
    read_status(object["status"], pod);
    apply_defaults(pod);
    if (rules.status_from_kubelet) apply_allocation(object["status"], pod);
    reading.limit_faults(most);
    if (reading.refusals() > before) return std::nullopt;
    return pod;
}

}  // namespace evictd::kube
