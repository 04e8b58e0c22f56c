// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Log GC: one rule of evictPodLogsDirectories a test.
#include "log_gc.hpp"

#include <gtest/gtest.h>

namespace evictd::policy {
namespace {

using Ids = std::vector<std::string>;

PodFate by_name(const std::string& uid) {
    if (uid == "gone") return PodFate::deleted;
    return uid == "ended" ? PodFate::terminated : PodFate::known;
}

TEST(LogGc, OnlyDirectoriesOfDeletedPodsGo) {
    Runtime runtime;
    for (const char* name : {"default_a_gone", "default_b_ended", "default_c_known", "gone"}) {
        runtime.log_directories.push_back({name});
    }
    EXPECT_EQ(collect_logs(runtime, by_name), (Ids{"default_a_gone", "gone"}));
}

TEST(LogGc, ADanglingLinkStaysWhileItsContainerIsNotDead) {
    struct Case {
        bool dangling;
        std::optional<ContainerState> container;
        bool goes;
    };
    const Case cases[] = {
        {true, std::nullopt, true},
        {true, ContainerState::exited, true},
        {true, ContainerState::running, false},
        {true, ContainerState::created, false},
        {true, ContainerState::unknown, false},
        {false, std::nullopt, false},
        {false, ContainerState::exited, false},
    };
    for (const Case& c : cases) {
        Runtime runtime;
        runtime.log_links.push_back({"link", c.dangling, c.container});
        EXPECT_EQ(collect_logs(runtime, by_name).size(), c.goes ? 1U : 0U);
    }
}

TEST(LogGc, DirectoriesGoBeforeLinks) {
    Runtime runtime;
    runtime.log_links.push_back({"link", true, std::nullopt});
    runtime.log_directories.push_back({"gone"});
    EXPECT_EQ(collect_logs(runtime, by_name), (Ids{"gone", "link"}));
}

}  // namespace
}  // namespace evictd::policy
