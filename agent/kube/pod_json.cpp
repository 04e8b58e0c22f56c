// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The parts of a v1 Pod put together. What is checked is what would make evictd act on the wrong thing: identity, names
// and amounts.
#include "kube/pod_json.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "evictd/model/text.hpp"
#include "kube/field.hpp"
#include "kube/pod_defaults.hpp"
#include "kube/pod_metadata.hpp"
#include "kube/pod_spec.hpp"
#include "kube/pod_status.hpp"

namespace evictd::kube {
namespace {

void check_type(const Field& object) {
    const auto version = object["apiVersion"].text();
    const auto kind = object["kind"].text();
    if (version && *version != "v1") object["apiVersion"].refuse("is " + in_quotes(*version), "only v1 Pods are read");
    if (kind && *kind != "Pod") object["kind"].refuse("is " + in_quotes(*kind), "only v1 Pods are read");
}

}  // namespace

Result<Pod> pod_from_json(const nlohmann::json& object, const PodRules& rules) {
    std::optional<Error> fault;
    const Field whole(object, fault);
    Pod pod;
    pod.source = rules.source;
    check_type(whole);
    read_metadata(whole["metadata"], rules, pod);
    read_spec(whole["spec"], rules, pod);
    read_status(whole["status"], pod);
    if (fault) return tl::unexpected(std::move(*fault));
    apply_defaults(pod);
    return pod;
}

}  // namespace evictd::kube
