// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The parts of a v1 Pod put together. What is checked is what would make evictd act on the wrong thing: identity, names
// and amounts.
#include "kube/pod_object.hpp"

#include "evictd/model/text.hpp"
#include "kube/pod_defaults.hpp"
#include "kube/pod_metadata.hpp"
#include "kube/pod_spec.hpp"
#include "kube/pod_status.hpp"

namespace evictd::kube {
namespace {

void check_type(const Value& object) {
    const auto version = object["apiVersion"].text();
    const auto kind = object["kind"].text();
    if (version && *version != "v1") object["apiVersion"].refuse("is " + in_quotes(*version), "only v1 Pods are read");
    if (kind && *kind != "Pod") object["kind"].refuse("is " + in_quotes(*kind), "only v1 Pods are read");
}

}  // namespace

std::optional<Pod> read_pod(const Value& object, const PodRules& rules) {
    document::Reading& reading = object.reading();
    const std::size_t before = reading.refusals();
    const std::size_t most = reading.allow_faults(1);
    Pod pod;
    pod.source = rules.source;
    if (!object.present()) object.refuse("is missing", "a Pod is a map with metadata and spec");
    check_type(object);
    read_metadata(object["metadata"], rules, pod);
    read_spec(object["spec"], rules, pod);
    read_status(object["status"], pod);
    reading.limit_faults(most);
    if (reading.refusals() > before) return std::nullopt;
    apply_defaults(pod);
    return pod;
}

}  // namespace evictd::kube
