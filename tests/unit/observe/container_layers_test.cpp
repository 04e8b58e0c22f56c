// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/container_layers.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_container_runtime.hpp"

namespace evictd::observe {
namespace {

using namespace std::chrono_literals;

RuntimeContainer container(const std::string& id, std::uint32_t attempt, ContainerState state, Bytes layer) {
    RuntimeContainer one;
    one.id = id;
    one.pod = "uid";
    one.name = "app";
    one.attempt = attempt;
    one.state = state;
    one.layer = RuntimeUsage{.used = layer};
    return one;
}

TEST(ContainerLayers, OfEachNameTheOneThatRuns) {
    fakes::FakeContainerRuntime runtime;
    runtime.all_containers = {container("dead", 5, ContainerState::exited, 7_GiB),
                              container("old", 1, ContainerState::exited, 3_GiB),
                              container("live", 2, ContainerState::running, 1_GiB)};
    const auto layers = read_layers(runtime, MonotonicTime{5s});
    ASSERT_TRUE(layers);
    ASSERT_EQ((*layers)->of.size(), 1U);
    EXPECT_EQ((*layers)->of[0].usage->used, 1_GiB);
    EXPECT_EQ((*layers)->at, MonotonicTime{5s});
}

TEST(ContainerLayers, OfDeadOnesTheNewest) {
    fakes::FakeContainerRuntime runtime;
    runtime.all_containers = {container("new", 2, ContainerState::exited, 2_GiB),
                              container("old", 1, ContainerState::exited, 3_GiB)};
    const auto layers = read_layers(runtime, {});
    ASSERT_TRUE(layers);
    EXPECT_EQ((*layers)->of[0].usage->used, 2_GiB);
}

}  // namespace
}  // namespace evictd::observe
