// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pods are on the node, as a running agent's status document says.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "evictd/model/pod.hpp"

namespace evictd::codec {

struct AgentPod {
    // Its names, uid and phase, status_reason and deletion_time, and the containers that its sources do not know to be
    // created, init containers among them, with name and image.
    Pod pod;
    bool populated = true;  // also where the document does not say
};

// None: it is no status document. A pod that it says too little of is left out.
[[nodiscard]] std::optional<std::vector<AgentPod>> agent_pods(std::string_view status_json);

}  // namespace evictd::codec
