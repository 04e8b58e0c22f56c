// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the demo writes is read by the agent's own readers.
#include "demo/documents.hpp"

#include <gtest/gtest.h>

#include "config/load.hpp"
#include "kube/manifest_text.hpp"

namespace evictd::demo {
namespace {

const AgentPlaces places{"/var/tmp/it's here", "/sys/fs/bpf/evictd-demo-1", "/evictd-demo-1"};

TEST(Manifests, HoldThePlan) {
    const auto plan = plan_for(Scenario::leak, 1_GiB);
    for (const auto& planned : plan.pods) {
        const auto read = kube::parse_manifest("pod.yaml", manifest(plan, planned), std::nullopt);
        ASSERT_TRUE(read.rejected.empty()) << read.rejected.front().text();
        ASSERT_EQ(read.pods.size(), 1U);
        const Pod& pod = *read.pods.front().pod;
        EXPECT_EQ(pod.full_name(), planned.full_name());
        EXPECT_EQ(pod.uid.value, planned.uid);
        EXPECT_EQ(pod.priority, planned.priority);
        EXPECT_EQ(pod.phase, PodPhase::running);
        EXPECT_EQ(pod.termination_grace_period, plan.pod_grace);
        const auto& memory = pod.containers.front().requests.memory;
        EXPECT_EQ(memory ? memory->value() : 0, planned.request.value);
        EXPECT_EQ(pod.containers.front().limits.memory.has_value(), planned.qos == QosClass::guaranteed);
    }
}

TEST(AgentConfig, IsValidForEveryScenario) {
    for (const auto scenario : {Scenario::spike, Scenario::leak, Scenario::pagecache, Scenario::sockets,
                                Scenario::oomrace, Scenario::thrash}) {
        const auto plan = plan_for(scenario, 1_GiB);
        const auto config = config::load(agent_config(plan, places, true), "config.yaml");
        ASSERT_TRUE(config) << config.error().front().text();
        EXPECT_EQ(config->eviction.thresholds.size(), plan.soft ? 2U : 1U);
        EXPECT_EQ(config->agent.bpf, BpfUse::automatic);
    }
}

TEST(AgentConfig, KeepsApartFromAnAgentThatRunsAlready) {
    const auto config = config::load(agent_config(plan_for(Scenario::spike, 1_GiB), places, false), "config.yaml");
    ASSERT_TRUE(config);
    EXPECT_EQ(config->agent.bpf, BpfUse::off);
    EXPECT_EQ(config->cgroup_root, places.cgroup_root);
    EXPECT_EQ(config->agent.bpffs_path, places.bpffs);
    EXPECT_EQ(config->agent.socket_path, places.socket());
    EXPECT_EQ(config->agent.pod_manifest_path, places.manifests());
    EXPECT_TRUE(config->agent.event_log_path.starts_with(places.directory));
    EXPECT_TRUE(config->agent.state_path.starts_with(places.directory));
}

}  // namespace
}  // namespace evictd::demo
