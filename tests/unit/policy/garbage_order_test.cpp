// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The order of removals that the owner graph gives, whatever was chosen.
#include "garbage_order.hpp"

#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

Runtime two_sandboxes() {
    Runtime runtime;
    for (const char* id : {"s1", "s2"}) runtime.sandboxes.emplace_back().id = id;
    for (const auto& [id, sandbox] : {std::pair("c1", "s1"), std::pair("c2", "s2"), std::pair("c3", "s1")}) {
        RuntimeContainer& container = runtime.containers.emplace_back();
        container.id = id;
        container.sandbox = sandbox;
    }
    return runtime;
}

std::string order(const std::vector<std::size_t>& containers, const std::vector<std::size_t>& sandboxes) {
    std::string said;
    for (const ObjectId& object : removal_order(two_sandboxes(), containers, sandboxes)) said += object.uid + " ";
    return said;
}

TEST(RemovalOrder, ASandboxComesAfterTheLastOfItsContainers) {
    EXPECT_EQ(order({0, 1, 2}, {0, 1}), "c1 c2 c3 s1 s2 ");
    EXPECT_EQ(order({2, 1, 0}, {1}), "c3 c2 c1 s2 ");
}

// A mistake in what was chosen removes too little, not what is in use.
TEST(RemovalOrder, ASandboxWithAContainerThatStaysIsLeftOutAndSoIsTheContainer) {
    EXPECT_EQ(order({0, 1}, {0, 1}), "c1 c2 s2 ");
    EXPECT_EQ(order({}, {0, 1}), "");
    EXPECT_EQ(order({}, {}), "");
}

}  // namespace
}  // namespace evictd::policy
