// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/scratch.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace evictd::demo {
namespace {

TEST(DemoNames, OnlyADemosNameHasAPid) {
    EXPECT_EQ(demo_pid("evictd-demo-123"), 123);
    EXPECT_EQ(demo_pid("evictd-demo-123.a1B2c3"), 123);
    for (const char* name :
         {"evictd-demo-", "evictd-demo-12x", "evictd-demo-0", "evictd-demo--5", "evictd-demo-1.abc",
          "evictd-demo-1.abcdefg", "evictd-demo-99999999999999999999", "my-evictd-demo-1", "evictd"}) {
        EXPECT_EQ(demo_pid(name), std::nullopt) << name;
    }
}

TEST(DemoNames, ARunningDemoLeavesNothingToCleanUp) {
    EXPECT_FALSE(is_leftover(demo_name(getpid())));
    EXPECT_TRUE(is_leftover("evictd-demo-2147483646"));  // beyond any pid_max
}

TEST(Scratch, IsPrivateAndGoneAfterwards) {
    std::string path;
    {
        const auto scratch = Scratch::make(Bytes{0});
        ASSERT_TRUE(scratch) << scratch.error().text();
        path = scratch->path();
        EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace evictd::demo
