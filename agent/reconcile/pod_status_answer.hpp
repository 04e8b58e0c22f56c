// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What an answer of the API server means for a request that ends a pod. Pure.
#pragma once

#include <string>

#include "codec/api_objects.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/api_server.hpp"

namespace evictd::reconcile {

struct Answer {
    PodStatusResult result = PodStatusResult::unreachable;
    std::string error{};         // in one line, where it is not accepted
    Duration retry_after{0};     // from the Retry-After header
    bool was_heard = false;      // the server answered
    bool is_of_version = false;  // the server has no such version of the Eviction API
    bool lacks_rights = false;   // 401 or 403
};
// That a pod is gone is the server's word about that pod: a 404 of a proxy is none.
[[nodiscard]] Answer read_answer(const DesiredPodStatus& pod, const Result<port::ApiReply>& reply);

// Of a pod that an earlier agent noted: whether it still has to be shown as ended.
enum class Left : std::uint8_t {
    undelivered,
    delivered,    // it is shown already, or has ended in another way, or is being deleted
    another_pod,  // of the same name
    elsewhere,    // on another node: its agent's
};
[[nodiscard]] Left what_is_left(const DesiredPodStatus& noted, const codec::PodInApi& pod, const std::string& node);

}  // namespace evictd::reconcile
