// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pods are on this node, for `evictd gc`, which is no agent: the manifests on disk, and what a running agent
// says. What neither has may be there all the same.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/pod.hpp"
#include "policy/garbage.hpp"

namespace evictd::app {

struct GarbagePods {
    policy::PodWordOf word_of;
    std::vector<PodPtr> pods;           // an agent's have those containers alone that are not known to be created
    std::vector<std::string> sources;   // "12 pods of the agent at /run/evictd/evictd.sock"
    std::vector<std::string> troubles;  // what could not be read; no agent is none
};

// The agent is the one at `config.agent.socket_path`. It waits for 5 s at most.
[[nodiscard]] GarbagePods find_garbage_pods(const Config& config);

}  // namespace evictd::app
