// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Garbage collection on a real containerd: what is dead goes, and nothing that is in use, also while containers and
// images come and go.
#include "policy/garbage.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "carry_out.hpp"
#include "disk/pod_logs.hpp"
#include "fakes/temp_dir.hpp"
#include "observe/runtime_inventory.hpp"
#include "runtime_fixture.hpp"
#include "sys/clock.hpp"

namespace evictd::cri_test {
namespace {

const std::vector<std::string> sleeps{"sleep", "1000000"};
constexpr auto spare = "localhost/spare:1";

// Passes of a forced collection, on a connection of its own.
class Collector {
public:
    explicit Collector(cri::Runtime& runtime) : runtime_(runtime) { config_.image_gc.min_age = {}; }

    // Every pod is on the node, but for these.
    std::map<std::string, policy::PodFate> fates;
    std::map<GarbageStatus, int> counts;
    std::vector<std::string> troubles;

    policy::GarbagePlan plan() {
        const auto look = inventory_.look();
        troubles.insert(troubles.end(), look.troubles.begin(), look.troubles.end());
        const policy::GarbageRequest request{
            .forced = true, .now = clock_.monotonic(), .wall = clock_.wall(), .missing = {}};
        return policy::plan_garbage(config_, request, *look.runtime, [this](const std::string& uid) {
            const auto found = fates.find(uid);
            return policy::PodWord{found == fates.end() ? policy::PodFate::known : found->second, "its pod is here"};
        });
    }
    ReclaimOutcome collect() {
        auto told = carry_out(plan().removals, runtime_, logs_, clock_, ++passes_);
        for (const auto& one : told.removals) counts[one.status]++;
        return told;
    }

private:
    cri::Runtime& runtime_;
    fakes::TempDir directory_;
    disk::PodLogs logs_{{directory_ / "pods", directory_ / "containers"}};
    sys::SystemClock clock_;
    observe::RuntimeInventory inventory_{runtime_, logs_, clock_};
    GarbageConfig config_;
    std::uint64_t passes_ = 0;
};

class GarbageTest : public RuntimeFixture {
protected:
    // Other tests need them too: what is collected is as it was.
    void SetUp() override { ASSERT_TRUE(import("spare") && import("load")); }
    void TearDown() override {
        EXPECT_TRUE(import("spare") && import("load"));
        RuntimeFixture::TearDown();
    }
    static bool import(const std::string& image) {
        const auto command = from_environment("CRI_CTR") + " -a " + from_environment("CRI_SOCKET") +
                             " -n k8s.io image import " + from_environment("CRI_IMAGES") + "/" + image +
                             ".tar > /dev/null 2>&1";
        return std::system(command.c_str()) == 0;
    }
    [[nodiscard]] bool has_container(const std::string& id) {
        const auto all = runtime->containers();
        EXPECT_TRUE(all);
        return all && std::any_of(all->begin(), all->end(), [&](const auto& one) { return one.id == id; });
    }
    [[nodiscard]] bool has_image(const std::string& tag) {
        const auto all = runtime->images();
        EXPECT_TRUE(all);
        return all && std::any_of(all->begin(), all->end(), [&](const auto& one) {
                   return std::find(one.tags.begin(), one.tags.end(), tag) != one.tags.end();
               });
    }
    std::string run_in(const std::string& pod, const std::string& name) {
        auto id = make_container(pod, name, sleeps);
        start(id);
        return id;
    }
    static bool wait_for_passes(const std::atomic<int>& passes, int more) {
        const int until = passes + more;
        return wait_for([&] { return passes >= until; });
    }
    void end(const std::string& container) {
        ASSERT_TRUE(runtime->stop_container(container, {}));
        ASSERT_TRUE(wait_for([&] { return details_of(container).container.state == ContainerState::exited; }));
    }
};

TEST_F(GarbageTest, WhatIsDeadGoesAndWhatRunsStays) {
    const auto pod = make_pod("mixed");
    const auto running = run_in(pod, "running");
    const auto dead = run_in(pod, "dead");
    end(dead);
    const auto made = make_container(pod, "made", sleeps);
    const auto gone = make_pod("gone");
    const auto of_gone = run_in(gone, "of-gone");
    end(of_gone);
    ASSERT_TRUE(runtime->stop_sandbox(gone));
    Collector collector(*runtime);
    collector.fates = {{"uid-gone", policy::PodFate::deleted},
                       {"uid-of-of-gone", policy::PodFate::deleted},
                       {"uid-of-dead", policy::PodFate::terminated}};
    const auto first = collector.collect();
    EXPECT_TRUE(first.errors.empty()) << first.errors.front();
    EXPECT_TRUE(has_container(running));
    EXPECT_EQ(details_of(running).container.state, ContainerState::running);
    EXPECT_FALSE(has_container(dead));
    EXPECT_TRUE(has_container(made)) << "it is about to be started";
    EXPECT_FALSE(has_container(of_gone));
    EXPECT_FALSE(has_image(spare));
    EXPECT_TRUE(has_image("localhost/load:1"));
    EXPECT_TRUE(has_image("localhost/pause:1")) << "the image of sandboxes";
    (void)collector.collect();
    const auto sandboxes = runtime->sandboxes();
    ASSERT_TRUE(sandboxes);
    EXPECT_TRUE(std::none_of(sandboxes->begin(), sandboxes->end(), [&](const auto& one) { return one.id == gone; }));
    EXPECT_TRUE(std::any_of(sandboxes->begin(), sandboxes->end(), [&](const auto& one) { return one.id == pod; }));
    EXPECT_TRUE(collector.troubles.empty());
}

TEST_F(GarbageTest, AnImageOfAContainerThatWasMadeMeanwhileStays) {
    Collector collector(*runtime);
    const auto plan = collector.plan();
    const auto is_spare = [](const Garbage& one) { return one.name == spare; };
    const auto planned = std::find_if(plan.removals.begin(), plan.removals.end(), is_spare);
    ASSERT_NE(planned, plan.removals.end());
    const auto pod = make_pod("late");
    (void)make_container(pod, "late", {"/file"}, spare);
    (void)collector.collect();
    EXPECT_TRUE(has_image(spare));
}

// CHURN_SECONDS (60): a container that was started and not stopped runs, and its image is there, whatever is collected.
TEST_F(GarbageTest, NothingInUseGoesWhileAllElseComesAndGoes) {
    const auto text = from_environment("CHURN_SECONDS");
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(text.empty() ? 60 : std::stoi(text));
    const auto other = connect();
    Collector collector(*other);
    std::atomic<bool> stops = false;
    std::atomic<int> passes = 0;
    const auto seed = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto pod = make_pod("churn");
    std::vector<std::string> running{run_in(pod, "first")};  // else their image would go
    std::thread collecting([&] {
        for (; !stops; passes++) (void)collector.collect();
    });
    const auto churn = [&] {
        for (int step = 0; std::chrono::steady_clock::now() < until && !HasFailure(); step++) {
            if (running.size() < 3 || (running.size() < 8 && random() % 2 == 0)) {
                running.push_back(run_in(pod, "c" + std::to_string(step)));
            } else {
                const auto victim = running.begin() + static_cast<std::ptrdiff_t>(random() % running.size());
                const auto stopped = runtime->stop_container(*victim, {});
                ASSERT_TRUE(stopped) << stopped.error().text();
                running.erase(victim);
            }
            // The image may go as soon as it is there, since none is too young here, and between the last look at its
            // uses and its removal a container may be made of it: no runtime prevents that. Later passes leave it
            // alone.
            if (step % 5 == 0 && import("spare")) {
                const auto made = try_to_make_container(pod, "s" + std::to_string(step), {"/file"}, spare);
                ASSERT_TRUE(made.empty() || wait_for_passes(passes, 2));
                const bool was_there = has_image(spare);
                ASSERT_TRUE(made.empty() || wait_for_passes(passes, 2));
                EXPECT_TRUE(made.empty() || !was_there || has_image(spare)) << "container " << made << " uses it";
                if (!made.empty()) {
                    ASSERT_TRUE(runtime->remove_container(made));
                }
            }
            const auto all = runtime->containers();
            ASSERT_TRUE(all);
            for (const auto& id : running) {
                const auto found =
                    std::find_if(all->begin(), all->end(), [&](const auto& one) { return one.id == id; });
                ASSERT_NE(found, all->end()) << "a running container was removed";
                EXPECT_EQ(found->state, ContainerState::running);
            }
            EXPECT_TRUE(has_image("localhost/load:1"));
        }
    };
    churn();  // what it asserts ends it, and not this
    stops = true;
    collecting.join();
    EXPECT_GT(collector.counts[GarbageStatus::removed], 0);
    std::printf("removed %d, in use again %d, vanished %d, failed %d\n", collector.counts[GarbageStatus::removed],
                collector.counts[GarbageStatus::in_use], collector.counts[GarbageStatus::vanished],
                collector.counts[GarbageStatus::failed]);
}

}  // namespace
}  // namespace evictd::cri_test
