// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/early_release.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace evictd::act {
namespace {

constexpr auto released_within = std::chrono::seconds(20);

TEST(EarlyReleases, FewProcessesWaitForTheReleaseOfTheirMemory) {
    std::promise<void> go_on;
    const auto gone_on = go_on.get_future().share();
    auto early = EarlyRelease::make([&](const HeldProcess&) {
        gone_on.wait();
        return true;
    });
    ASSERT_TRUE(early);
    std::vector<HeldProcess> held(EarlyRelease::most_waiting + 5);
    (*early)->take_from(held, false);
    EXPECT_EQ(held.size(), 5U);
    (*early)->take_from(held, false);
    EXPECT_EQ(held.size(), 5U);
    go_on.set_value();
    const auto until = std::chrono::steady_clock::now() + released_within;
    while (!held.empty() && std::chrono::steady_clock::now() < until) (*early)->take_from(held, false);
    EXPECT_TRUE(held.empty());
}

TEST(EarlyReleases, OneThatDoesNotEndHoldsUpNoEnd) {
    struct Shared {
        std::promise<void> begun;
        std::promise<void> go_on;
    };
    const auto shared = std::make_shared<Shared>();
    {
        auto early = EarlyRelease::make([shared](const HeldProcess&) {
            shared->begun.set_value();
            shared->go_on.get_future().wait();
            return true;
        });
        ASSERT_TRUE(early);
        std::vector<HeldProcess> held(1);
        (*early)->take_from(held, false);
        EXPECT_TRUE(held.empty());
        shared->begun.get_future().wait();
    }
    shared->go_on.set_value();
    while (shared.use_count() > 1) std::this_thread::yield();  // the thread that was left behind lets go of it
}

}  // namespace
}  // namespace evictd::act
