// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the API server is sent to end a pod, and what is read of its answers. Pure: no time of its own, no sending.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evictd/model/pod_status.hpp"
#include "evictd/model/result.hpp"

namespace evictd::codec {

struct ApiMessage {
    std::string method;
    std::string path;
    std::string content_type;  // empty: there is no body
    std::string body;
};

// A change of an annotation alone has the kubelet tear the pod down; a change of the status does not.
inline constexpr std::string_view evicted_annotation = "evictd.io/evicted";

// Servers have policy/v1 from 1.22 and policy/v1beta1 up to 1.24.
enum class EvictionApi : std::uint8_t { v1, v1beta1 };

// Whether namespace and name can be part of a request's path: as the API server validates them
// (NameIsDNSLabel, NameIsDNSSubdomain). No request may be made of others.
[[nodiscard]] bool has_api_name(const DesiredPodStatus& pod);

// A strategic merge PATCH of pods/status, as the kubelet's eviction manager and status manager leave it. The uid in it
// makes the server refuse it (422) where another pod has the name meanwhile. `at`: the condition's transition.
// `annotation`: a value that the pod does not have yet. Of a pod that was given up, the condition alone:
// DisruptionTarget is False. Texts that are not UTF-8 are sent with replacement characters; messages of more than 32
// KiB (metav1.Condition) are cut.
[[nodiscard]] ApiMessage status_patch(const DesiredPodStatus& pod, WallTime at, std::string_view annotation);
// 409 where another pod has the name.
[[nodiscard]] ApiMessage eviction_post(const DesiredPodStatus& pod, EvictionApi api);
[[nodiscard]] ApiMessage pod_deletion(const DesiredPodStatus& pod);
[[nodiscard]] ApiMessage pod_request(const DesiredPodStatus& pod);

// A metav1.Status, which is the body of each refusal. What is no Status is an empty one with its text as the message.
struct ApiRefusal {
    std::string reason;          // NotFound, Conflict, Invalid, ...
    std::string message;         // in one line, of 200 characters at most
    std::string kind;            // of the object it is about (details.kind): "pods"
    std::string name;            // details.name
    bool is_about_uid = false;   // another pod has the name
    bool is_by_budget = false;   // 429 of an eviction: by a PodDisruptionBudget, and not by the server's own limits
    bool is_of_version = false;  // 400: the server does not know the object's apiVersion
};
[[nodiscard]] ApiRefusal read_refusal(std::string_view body);

// What the server has of a pod.
struct PodInApi {
    std::string uid;
    std::string node;
    std::string phase;
    std::string reason;
    bool disruption_target = false;  // the condition is True
    bool is_deleting = false;
    // Of the static pods that it says it mirrors: kubernetes.io/config.mirror and config.hash, which are the same
    // where the kubelet has set them. Empty: it says nothing of the kind.
    std::string mirror_of{};
    std::string hash_of{};
};
// Error: not a pod.
[[nodiscard]] Result<PodInApi> read_pod_in_api(std::string_view body);

}  // namespace evictd::codec
