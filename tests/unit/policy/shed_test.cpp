// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Who gets no new sockets: only while memory is short, only who could be evicted, and no more than was configured.
#include "shed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> shed_of(const Decision& decision) {
    std::vector<std::string> names;
    for (const auto& shed : decision.shed) names.push_back(shed.pod_name);
    return names;
}

struct Shed : ::testing::Test {
    Node node{.config = {.thresholds = {soft(1_GiB, 30s)}, .shed_sockets = true},
              .pods = {pod({.name = "small", .working_set = 100_MiB, .cgroup = 11}),
                       pod({.name = "hog", .working_set = 2_GiB, .cgroup = 12}),
                       pod({.name = "critical", .working_set = 3_GiB, .priority = 2'000'000'000, .cgroup = 13}),
                       pod({.name = "static", .working_set = 3_GiB, .origin = PodOrigin::static_file, .cgroup = 14})}};
};

TEST_F(Shed, TheHeadOfTheOrderWhileAThresholdsGracePeriodRuns) {
    const auto decision = node.set(500_MiB).look(0s);
    ASSERT_THAT(shed_of(decision), ElementsAre("default/hog"));
    EXPECT_EQ(decision.shed[0].pod, PodUid{"uid-hog"});
    EXPECT_EQ(decision.shed[0].cgroup, CgroupId{12});
    EXPECT_FALSE(decision.evict);
}

TEST_F(Shed, NoPodWhileNoThresholdIsMetAndNoneImmediatelyAfter) {
    EXPECT_THAT(shed_of(node.set(2_GiB).look(0s)), IsEmpty());
    EXPECT_THAT(shed_of(node.set(500_MiB).look(1s)), ElementsAre("default/hog"));
    EXPECT_THAT(shed_of(node.set(2_GiB).look(2s)), IsEmpty()) << "the condition lasts longer than the pressure";
}

TEST_F(Shed, NoPodUnlessItIsConfigured) {
    node.config.shed_sockets = false;
    EXPECT_THAT(shed_of(node.set(500_MiB).look(0s)), IsEmpty());
}

TEST_F(Shed, AsManyAsConfiguredAndNeverAnExemptPod) {
    node.config.shed_pods = 10;
    EXPECT_THAT(shed_of(node.set(500_MiB).look(0s)), ElementsAre("default/hog", "default/small"));
    node.find("hog").populated = false;
    EXPECT_THAT(shed_of(node.look(1s)), ElementsAre("default/small"));
}

TEST_F(Shed, AThresholdOfSomethingElseIsNoShortageOfMemory) {
    node.config.thresholds = {soft(1_GiB, 30s, Signal::nodefs_available)};
    EXPECT_THAT(shed_of(node.set(500_MiB, Signal::nodefs_available).look(0s)), IsEmpty());
    node.config.thresholds.push_back(soft(1_GiB, 30s, Signal::allocatable_memory_available));
    EXPECT_THAT(shed_of(node.set(500_MiB, Signal::allocatable_memory_available).look(1s)), ElementsAre("default/hog"));
}

TEST_F(Shed, AVictimOnItsWayTakesThePlaceOfOne) {
    node.config.thresholds = {hard(1_GiB)};
    auto decision = node.set(500_MiB).look(0s);
    ASSERT_EQ(evicted(decision), "uid-hog");
    EXPECT_THAT(shed_of(decision), IsEmpty()) << "it is killed, and the next is innocent until its memory is back";
    node.state = {};
    node.config.shed_pods = 2;
    decision = node.look(1s);
    ASSERT_EQ(evicted(decision), "uid-hog");
    EXPECT_THAT(shed_of(decision), ElementsAre("default/small"));
}

TEST_F(Shed, APodThatGotSigtermIsNotShed) {
    node.set(500_MiB).look(0s);
    const auto decision = node.look(30s);
    ASSERT_EQ(evicted(decision), "uid-hog");
    EXPECT_FALSE(decision.evict->immediate);
    EXPECT_THAT(shed_of(decision), IsEmpty());
}

}  // namespace
}  // namespace evictd::policy
