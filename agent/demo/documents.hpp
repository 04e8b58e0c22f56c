// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The files the demo hands to the agent: one Pod manifest a pod, as the API server would have it, and the agent's
// configuration. Text only, nothing is written here.
#pragma once

#include <string>

#include "demo/scenario.hpp"

namespace evictd::demo {

// A v1 Pod, YAML.
[[nodiscard]] std::string manifest(const Plan& plan, const PodPlan& pod);

// Where the agent that is shown keeps its things: apart from those of an agent that may run on this machine already.
struct AgentPlaces {
    std::string directory;    // private; pods, socket, state and event log lie below it
    std::string bpffs;        // "/sys/fs/bpf/evictd-demo-123"
    std::string cgroup_root;  // "/evictd-demo-123"
    [[nodiscard]] std::string manifests() const { return directory + "/pods"; }
    [[nodiscard]] std::string socket() const { return directory + "/evictd.sock"; }
    [[nodiscard]] std::string config() const { return directory + "/config.yaml"; }
};
[[nodiscard]] std::string agent_config(const Plan& plan, const AgentPlaces& places, bool bpf);

}  // namespace evictd::demo
