// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The usage pass while cgroups are made and removed beside it, and processes are moved.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/bpf_fixture.hpp"

namespace evictd::kernel_test {
namespace {

using namespace std::chrono_literals;

// Repeats `step` in another thread until it is destroyed.
class Meanwhile {
public:
    explicit Meanwhile(std::function<void()> step)
        : thread_([this, step = std::move(step)] {
              while (!ends_) step();
          }) {}
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;
    ~Meanwhile() {
        ends_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> ends_ = false;
    std::thread thread_;
};

const PodProcess::Body waits = [](const Line& line) {
    line.say('w');
    line.hear();
};

using UsageMoving = WithBpf;

// cgroup_mutex is held over an RCU grace period by whoever moves a process after a while without moves.
TEST_F(UsageMoving, APassDoesNotWaitForAProcessThatIsMoved) {
    make_pods_root(std::nullopt);
    for (const auto* name : {"kubepods/poda/container", "beside/a", "beside/b"}) cgroups_.make(name);
    PodProcess moved(cgroups_, "beside/a", waits);
    ASSERT_TRUE(moved.hear());
    std::atomic<int> moves = 0;  // odd: one is under way
    std::atomic<int> long_moves = 0;
    const Meanwhile mover([&] {
        std::this_thread::sleep_for(50ms);
        const auto* to = moves.fetch_add(1) % 4 == 0 ? "beside/b" : "beside/a";
        const auto began = std::chrono::steady_clock::now();
        cgroups_.write(to, "cgroup.procs", std::to_string(moved.pid()));
        if (std::chrono::steady_clock::now() - began > 5ms) long_moves++;
        moves++;
    });
    int unhindered = 0;  // moves during which several passes began and ended
    while (moves < 2 * 20) {
        const int before = moves;
        int passes = 0;
        while (before % 2 == 1 && moves == before && passes < 5) {
            EXPECT_FALSE(usage().empty());
            if (moves == before) passes++;
            std::this_thread::sleep_for(500us);  // else the mover may wait for the passes
        }
        if (passes == 5) unhindered++;
        while (moves == before) std::this_thread::sleep_for(100us);
    }
    if (long_moves < 6)
        GTEST_SKIP() << "only " << long_moves << " of 20 moves took 5 ms: they were too short to wait for";
    EXPECT_GE(unhindered, 3) << "of 20 moves, " << long_moves << " of them long";
}

TEST_F(UsageMoving, WhatStaysHasItsRowWhileOthersComeAndGo) {
    make_pods_root(std::nullopt);
    std::vector<std::string> stay;
    for (const auto* pod : {"kubepods/poda", "kubepods/podb", "kubepods/podhops", "kubepods/podz"}) {
        for (const auto* below : {"", "/a", "/b"}) stay.push_back(std::string(pod) + below);
    }
    for (const auto& each : stay) cgroups_.make(each);
    PodProcess hops(cgroups_, "kubepods/podhops/a", waits);
    ASSERT_TRUE(hops.hear());
    const std::string comes = hierarchies().memory + cgroups_.path("kubepods/podcomes");
    std::atomic<int> came = 0;
    const Meanwhile churn([&] {
        const auto pod = comes + std::to_string(came % 8);
        const auto container = pod + "/a";
        (void)::mkdir(pod.c_str(), 0755);
        came += ::mkdir(container.c_str(), 0755) == 0 ? 1 : 0;
        (void)::rmdir(container.c_str());
        (void)::rmdir(pod.c_str());
    });
    const Meanwhile hopper([&] {
        for (const auto* to : {"b", "a"}) {
            cgroups_.write(std::string("kubepods/podhops/") + to, "cgroup.procs", std::to_string(hops.pid()));
        }
    });
    for (int pass = 0; pass < 500; pass++) {
        std::map<std::uint64_t, int> seen;
        bool populated = false;
        for (const auto& row : usage()) {
            seen[row.id.value]++;
            populated = populated || (row.id == cgroups_.id("kubepods/podhops") && row.populated);
        }
        for (const auto& each : stay) ASSERT_EQ(seen[cgroups_.id(each).value], 1) << each << " in pass " << pass;
        ASSERT_TRUE(populated) << "in pass " << pass;
    }
    EXPECT_GT(came, 0);
}

}  // namespace
}  // namespace evictd::kernel_test
