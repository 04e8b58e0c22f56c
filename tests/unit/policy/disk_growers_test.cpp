// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pod fills the disk.
#include "disk_growers.hpp"

#include <gmock/gmock.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr auto on_node = Signal::nodefs_available;
constexpr auto on_images = Signal::imagefs_available;

// nodefs and imagefs lose 100 MiB a second each; looks every second, and what pods keep is known at every tenth.
struct Filled : Node {
    Duration now{0};
    FsLayout layout = FsLayout::single;
    Bytes web{};  // a second
    Bytes db{};

    Filled() {
        config.thresholds = {hard(10_GiB, std::nullopt, on_node), hard(10_GiB, std::nullopt, on_images)};
        pods = {pod({.name = "web", .working_set = 1_GiB, .cgroup = 12}),
                pod({.name = "db", .working_set = 1_GiB, .cgroup = 11})};
    }
    Decision look_once() {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
        const Bytes left{(90_GiB).value - seconds * (100_MiB).value};
        set(left, on_node, 100_GiB).set(left, on_images, 100_GiB);
        const bool known = seconds % 10 == 0;
        for (auto& one : pods) {
            one.usage->disk_partial = !known;
            one.usage->disk = {};
            if (!known) continue;
            if (one.pod->name == "web") one.usage->disk.volumes = Bytes{seconds * web.value};
            if (one.pod->name == "db") one.usage->disk.rootfs = Bytes{seconds * db.value};
        }
        auto observation = observe(now);
        observation.fs_layout = layout;
        auto verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        now += 1s;
        return std::move(verdict.decision);
    }
    Decision look_for(int seconds) {
        Decision last;
        for (int i = 0; i < seconds; ++i) last = look_once();
        return last;
    }
};

TEST(DiskGrowers, ThePodThatGrowsFastestAndItsShareOfTheFall) {
    Filled node;
    node.web = 90_MiB;
    node.db = 5_MiB;
    auto decision = node.look_for(19);
    ASSERT_EQ(decision.disk_exhaustion.size(), 2U);
    EXPECT_TRUE(decision.disk_exhaustion[0].pod.value.empty())
        << "what it kept when it was first measured is no growth";
    decision = node.look_for(7);
    EXPECT_EQ(decision.disk_exhaustion[0].pod.value, "uid-web") << "also at looks that do not know what pods keep";
    EXPECT_EQ(decision.disk_exhaustion[0].share_percent, 90);
    EXPECT_EQ(decision.disk_exhaustion[1].share_percent, 90) << "both are one filesystem";
}

// The kill path pays for what a look keeps of each pod.
TEST(DiskGrowers, NothingIsKeptOfPodsWhereNoDiskFills) {
    Filled node;
    node.web = 90_MiB;
    node.look_for(26);
    EXPECT_EQ(node.state.pod_disk_trends.size(), 2U);
    node.config.thresholds.clear();
    node.look_once();
    EXPECT_TRUE(node.state.pod_disk_trends.empty());
}

TEST(DiskGrowers, AShareIsNeverMoreThanAll) {
    Filled node;
    node.web = 300_MiB;
    node.db = 100_MiB;
    EXPECT_EQ(node.look_for(26).disk_exhaustion.at(0).share_percent, 75);
}

TEST(DiskGrowers, OnlyWhatLiesOnThatFilesystemCounts) {
    Filled node;
    node.layout = FsLayout::dedicated_image_fs;
    node.web = 50_MiB;
    node.db = 20_MiB;
    const auto decision = node.look_for(26);
    ASSERT_EQ(decision.disk_exhaustion.size(), 2U);
    for (const auto& out : decision.disk_exhaustion) {
        EXPECT_EQ(out.pod.value, out.signal == on_node ? "uid-web" : "uid-db");
        EXPECT_EQ(out.share_percent, out.signal == on_node ? 50 : 20);
    }
}

TEST(DiskGrowers, NobodyIsNamedWhereNoPodGrows) {
    Filled node;
    EXPECT_TRUE(node.look_for(45).disk_exhaustion.at(0).pod.value.empty());
    Filled shrinks;
    shrinks.web = Bytes{-(1_MiB).value};
    EXPECT_TRUE(shrinks.look_for(45).disk_exhaustion.at(0).pod.value.empty());
}

TEST(DiskGrowers, APodThatIsNoneOfTheReasonsIsNotNamed) {
    Filled node;
    node.web = 9_MiB;  // of 100 MiB
    const auto decision = node.look_for(26);
    ASSERT_FALSE(decision.disk_exhaustion.empty());
    EXPECT_TRUE(decision.disk_exhaustion[0].pod.value.empty());
    EXPECT_EQ(decision.disk_exhaustion[0].share_percent, 0);
}

TEST(DiskGrowers, AFigureThatComesTooSoonIsNoGrowth) {
    auto observed = pod({.name = "web", .working_set = 1_GiB, .cgroup = 12});
    Observation observation;
    observation.at = at(0s);
    observed.usage->disk.volumes = 1_GiB;
    observation.pods = {observed};
    auto trends = follow_pod_disks({}, observation);
    observation.at = at(1s);
    observation.pods[0].usage->disk.volumes = 2_GiB;
    trends = follow_pod_disks(std::move(trends), observation);
    ASSERT_EQ(trends.size(), 1U);
    EXPECT_EQ(trends[0].newest.at, at(0s));
    observation.at = at(10s);
    trends = follow_pod_disks(std::move(trends), observation);
    EXPECT_EQ(trends[0].newest.at, at(10s));
    observation.at = at(39s);
    trends = follow_pod_disks(std::move(trends), observation);
    EXPECT_EQ(trends[0].newest.at, at(10s)) << "it may not have been walked again";
    observation.at = at(40s);
    trends = follow_pod_disks(std::move(trends), observation);
    EXPECT_EQ(trends[0].before.used.volumes, 2_GiB) << "it has stopped";
    observation.pods.clear();
    EXPECT_EQ(follow_pod_disks(trends, observation).size(), 1U) << "a look that knows nothing of disks";
    observation.pods = {pod({.name = "db", .working_set = 1_GiB, .cgroup = 3})};
    EXPECT_EQ(follow_pod_disks(trends, observation).size(), 1U) << "the pod is gone, and another is there";
}

}  // namespace
}  // namespace evictd::policy::testing
