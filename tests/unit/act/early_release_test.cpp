// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/early_release.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "fakes/few_descriptors.hpp"

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
    (*early)->take_from(held);
    EXPECT_EQ(held.size(), 5U);
    (*early)->take_from(held);
    EXPECT_EQ(held.size(), 5U);
    go_on.set_value();
    const auto until = std::chrono::steady_clock::now() + released_within;
    while (!held.empty() && std::chrono::steady_clock::now() < until) (*early)->take_from(held);
    EXPECT_TRUE(held.empty());
}

std::vector<HeldProcess> some(std::size_t count) {
    std::vector<HeldProcess> held;
    while (held.size() < count) held.push_back({1, sys::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC))});
    return held;
}

TEST(EarlyReleases, TheKillOfWhatIsExpectedIsWaitedFor) {
    std::promise<void> asked;
    std::promise<void> killed;
    const auto kill = killed.get_future().share();
    std::promise<void> released;
    std::atomic<int> calls = 0;
    auto early = EarlyRelease::make([&](const HeldProcess& process) {
        EXPECT_TRUE(process.pidfd);
        const int call = calls++;
        if (call == 0) {
            asked.set_value();
            kill.wait();
        } else if (call == 1) {
            released.set_value();
        }
        return call > 0;
    });
    ASSERT_TRUE(early);
    const auto doomed = some(1);
    (*early)->expect(doomed);
    asked.get_future().wait();
    killed.set_value();
    EXPECT_EQ(released.get_future().wait_for(released_within), std::future_status::ready);
    EXPECT_TRUE(doomed.front().pidfd) << "the kill needs it";
}

TEST(EarlyReleases, WhatIsNotKilledIsNotWaitedForLong) {
    std::atomic<int> calls = 0;
    auto early = EarlyRelease::make([&](const HeldProcess&) { return calls++, false; });
    ASSERT_TRUE(early);
    (*early)->expect(some(3));
    std::vector<HeldProcess> held(EarlyRelease::most_waiting);
    const auto until = std::chrono::steady_clock::now() + released_within;
    (*early)->take_from(held);
    while (!held.empty() && std::chrono::steady_clock::now() < until) (*early)->take_from(held);
    EXPECT_TRUE(held.empty());
}

TEST(EarlyReleases, TheLastDescriptorsAreLeftToTheKill) {
    for (const int left : {20, 100}) {
        std::atomic<bool> called = false;
        std::promise<void> end;
        auto early = EarlyRelease::make([&](const HeldProcess& process) {
            process.pidfd ? called.store(true) : end.set_value();
            return true;
        });
        ASSERT_TRUE(early);
        const auto doomed = some(1);
        {
            const fakes::FewDescriptors few(left);
            (*early)->expect(doomed);
        }
        std::vector<HeldProcess> last(1);
        (*early)->take_from(last);  // comes after it
        ASSERT_EQ(end.get_future().wait_for(released_within), std::future_status::ready);
        EXPECT_EQ(called, left == 100);
    }
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
        (*early)->take_from(held);
        EXPECT_TRUE(held.empty());
        shared->begun.get_future().wait();
    }
    shared->go_on.set_value();
    while (shared.use_count() > 1) std::this_thread::yield();  // the thread that was left behind lets go of it
}

}  // namespace
}  // namespace evictd::act
