// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What news of disks makes the agent do, over fakes: nobody walks or removes anything.
#include "agent_disks_fixture.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(AgentDisks, EachLookHasWhatFilesystemsAnsweredLast) {
    begin();
    ASSERT_TRUE(reading(Signal::nodefs_available));
    EXPECT_EQ(reading(Signal::nodefs_available)->available.value, (500_GiB).value);
    EXPECT_EQ(last().observation.fs_layout, FsLayout::single);
}

TEST_F(AgentDisks, WithoutThemThereAreNoReadings) {
    declare(100_MiB);
    make();
    EXPECT_FALSE(reading(Signal::nodefs_available));
    agent->note_inventory(std::make_shared<const Runtime>());
    EXPECT_EQ(last().observation.runtime, nullptr);
}

TEST_F(AgentDisks, NewsThatChangesNothingIsNoLook) {
    begin();
    const auto looks = records.size();
    free(499_GiB);
    agent->note_disks();
    EXPECT_EQ(records.size(), looks);
}

TEST_F(AgentDisks, ACrossingIsALookAtOnceAndTheFilesystemIsAskedMoreOften) {
    begin();
    EXPECT_THAT(paces, ElementsAre(10s));
    free(9_GiB);
    agent->note_disks();
    ASSERT_FALSE(last().decision.thresholds_met.empty());
    EXPECT_THAT(paces, ElementsAre(10s, 10ms)) << "an eviction waits for what pods keep";
    free(500_GiB);
    const auto looks = records.size();
    agent->note_disks();
    EXPECT_EQ(records.size(), looks + 1) << "the end of pressure";
}

TEST_F(AgentDisks, AThresholdThatIsNearIsAskedForMoreOften) {
    begin();
    free(11_GiB);
    agent->note_disks();
    EXPECT_THAT(paces, ElementsAre(10s, 100ms));
    EXPECT_TRUE(last().decision.thresholds_met.empty());
}

TEST_F(AgentDisks, FiguresThatComeShortlyAfterOneAnotherAreOneLook) {
    begin();
    limit_storage_of_hog();
    clock.advance(9s);
    const auto looks = records.size();
    figures.survey = survey_of("hog", 3_GiB);
    agent->note_disks();
    EXPECT_EQ(records.size(), looks);
    EXPECT_EQ(agent->next_look(), clock.monotonic() + 200ms);
    clock.advance(100ms);
    figures.survey = survey_of("hog", 4_GiB);
    agent->note_disks();
    EXPECT_EQ(agent->next_look(), clock.monotonic() + 100ms) << "it is not put off again";
    clock.advance(100ms);
    agent->request_look();
    EXPECT_EQ(records.size(), looks + 1);
    const auto& pods = last().observation.pods;
    const auto hog = std::find_if(pods.begin(), pods.end(), [](const auto& one) { return one.pod->name == "hog"; });
    EXPECT_EQ(hog->usage->disk.volumes, 4_GiB);
}

TEST_F(AgentDisks, NewerFiguresOfPodsAreALookWithinASecond) {
    begin();
    limit_storage_of_hog();
    figures.survey = survey_of("hog", 3_GiB);
    const auto looks = records.size();
    agent->note_disks();
    EXPECT_EQ(records.size(), looks);
    EXPECT_LE(agent->next_look() - clock.monotonic(), 1s);
    agent->note_inventory(std::make_shared<const Runtime>());
    const auto& pods = last().observation.pods;
    const auto hog = std::find_if(pods.begin(), pods.end(), [](const auto& one) { return one.pod->name == "hog"; });
    EXPECT_EQ(hog->usage->disk.volumes, 3_GiB);
    EXPECT_TRUE(hog->usage->disk_partial) << "no runtime tells of its layer";
    clock.advance(1s);
    agent->request_look();
    EXPECT_EQ(last().observation.pods.front().usage->disk.volumes, 0_B) << "added once, while no threshold is met";
}

TEST_F(AgentDisks, FiguresThatAnEvictionWaitsForAreALookOnceTheFilesystemWasAskedAgain) {
    begin();
    free(9_GiB);
    agent->note_disks();
    clock.advance(30ms);
    free(9_GiB);
    agent->request_look();
    ASSERT_THAT(last().decision.why, testing::HasSubstr("not known yet"));
    figures.survey = survey_of("hog", 3_GiB);
    agent->note_disks();
    EXPECT_GT(agent->next_look() - clock.monotonic(), 10ms) << "by the same reading nothing would be decided";
    free(8_GiB);
    agent->note_disks();
    EXPECT_LE(agent->next_look() - clock.monotonic(), 10ms);
    clock.advance(10s);
    agent->request_look();
    figures.survey = survey_of("hog", 4_GiB);
    free(7_GiB);
    agent->request_look();
    EXPECT_EQ(paces.back(), 100ms) << "they are waited for no longer";
}

TEST_F(AgentDisks, AfterALookAtAnOldReadingTheNextReadingIsALook) {
    begin();
    free(9_GiB);
    agent->note_disks();
    clock.advance(5ms);
    agent->request_look();
    agent->note_inventory(std::make_shared<const Runtime>());
    EXPECT_GT(agent->next_look() - clock.monotonic(), 10ms);
    free(9_GiB);
    agent->note_disks();
    EXPECT_LE(agent->next_look() - clock.monotonic(), 10ms);
}

TEST_F(AgentDisks, UnderPressureEachLookHasThem) {
    begin();
    figures.survey = survey_of("hog", 3_GiB);
    free(9_GiB);
    agent->note_disks();
    clock.advance(1s);
    agent->request_look();
    Bytes all;
    for (const auto& pod : last().observation.pods) all += pod.usage->disk.volumes;
    EXPECT_EQ(all, 3_GiB);
}

// Above the threshold again, the kubelet still evicts until the minimum reclaim is reached.
TEST_F(AgentDisks, PodsHaveTheirFiguresWhileAMinimumReclaimIsNotReached) {
    begin();
    figures.survey = survey_of("hog", 3_GiB);
    auto config = eviction;
    for (auto& threshold : config.thresholds) {
        if (threshold.signal == Signal::nodefs_available) {
            threshold.min_reclaim = ThresholdValue{Quantity::of((5_GiB).value)};
        }
    }
    agent->set_config(config);
    free(9_GiB);
    agent->note_disks();
    free(12_GiB);
    agent->note_disks();
    clock.advance(1s);
    agent->request_look();
    Bytes all;
    for (const auto& pod : last().observation.pods) all += pod.usage->disk.volumes;
    EXPECT_EQ(all, 3_GiB);
    clock.advance(10s);
    agent->request_look();
    EXPECT_EQ(layer_paces.back(), 1s);
    figures.survey = survey_of("hog", 4_GiB);
    agent->note_disks();
    EXPECT_LE(agent->next_look() - clock.monotonic(), 1s) << "the next eviction may come of it";
}

TEST_F(AgentDisks, WithoutFiguresPodsAreUnknown) {
    begin();
    clock.advance(1s);
    agent->request_look();
    for (const auto& pod : last().observation.pods) EXPECT_TRUE(pod.usage->disk_partial);
}

TEST_F(AgentDisks, PodsAreMeasuredAnewAsADiskRunsShortAndThenLessAndLess) {
    begin();
    EXPECT_THAT(refreshed, IsEmpty());
    free(9_GiB);
    agent->note_disks();
    EXPECT_THAT(refreshed, ElementsAre(2U));
    const auto look_after = [&](Duration pause) {
        clock.advance(pause);
        agent->request_look();
    };
    look_after(9s);
    EXPECT_EQ(refreshed.size(), 1U);
    look_after(1s);
    EXPECT_EQ(refreshed.size(), 2U);
    look_after(19s);
    EXPECT_EQ(refreshed.size(), 2U);
    look_after(1s);
    EXPECT_EQ(refreshed.size(), 3U);
    free(500_GiB);
    agent->note_disks();
    free(9_GiB);
    agent->note_disks();
    EXPECT_EQ(refreshed.size(), 3U) << "never twice within 2 s, however often it runs short";
    look_after(1s);
    EXPECT_EQ(refreshed.size(), 3U);
    look_after(1s);
    EXPECT_EQ(refreshed.size(), 4U) << "what pods kept before this crossing is old";
    look_after(10s);
    EXPECT_EQ(refreshed.size(), 5U);
}

// The line is in no configuration, and moves with the rate.
TEST_F(AgentDisks, AThresholdInTimeIsACrossingToo) {
    eviction.disk_time_to_exhaustion = 30min;
    eviction.disk_time_to_exhaustion_grace_period = 1h;
    begin();
    figures.survey = survey_of("hog", 3_GiB);
    for (int i = 1; i <= 8; i++) {
        free(Bytes{(500 - 10 * i) * (1_GiB).value});
        clock.advance(10s);
        agent->request_look();
    }
    ASSERT_FALSE(last().decision.thresholds_pending.empty());
    EXPECT_GE(refreshed.size(), 1U) << "what pods keep is measured anew, and again while it stays met";
    EXPECT_EQ(usage_of_hog().disk.volumes, 3_GiB) << "and is in each look, though it is no newer";
    EXPECT_FALSE(usage_of_hog().disk_partial && usage_of_hog().disk.volumes == Bytes{0});
}

TEST_F(AgentDisks, AnotherThresholdThatIsMetIsNews) {
    eviction.thresholds.push_back({.signal = Signal::nodefs_available,
                                   .value = {Quantity::of((5_GiB).value)},
                                   .grace_period = 30s,
                                   .min_reclaim = {}});
    begin();
    free(9_GiB);
    agent->note_disks();
    const auto looks = records.size();
    clock.advance(3s);
    free(4_GiB);
    const auto measured = refreshed.size();
    agent->note_disks();
    EXPECT_EQ(records.size(), looks + 1);
    EXPECT_EQ(refreshed.size(), measured + 1) << "what pods kept at the first crossing is old";
}

TEST_F(AgentDisks, TheEmptyCgroupOfAPodThatMayBeAnOrphanIsSeenAndNoOther) {
    left = "0a1b2c3d-0000-4000-8000-00000000000a";
    eviction.garbage.orphans = Orphans::remove;
    pod_sources = 1;
    begin();
    set_pods({.pods = {pod("hog")}, .rejected = {}, .unread = {}, .current = true});
    const auto look_with = [&](const std::string& directory) {
        auto runtime = std::make_shared<Runtime>();
        runtime->whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
        clock.advance(1s);
        runtime->at = clock.monotonic();
        runtime->log_directories.push_back({directory});
        agent->note_inventory(runtime);
        clock.advance(1s);
        agent->request_look();
        return last().observation.left_cgroups.size();
    };
    ASSERT_TRUE(last().observation.pods_complete);
    EXPECT_EQ(look_with("shop_web_0a1b2c3d-0000-4000-8000-00000000000b"), 0U) << "nobody could be asked about it";
    EXPECT_EQ(look_with("shop_web_" + left), 1U);
    EXPECT_EQ(last().observation.left_cgroups.at(0).pod.value, left);
}

TEST_F(AgentDisks, AReclaimIsWantedOnceAndItsOutcomeIsInTheNextLook) {
    begin();
    auto runtime = std::make_shared<Runtime>();
    runtime->whole = {.images = true, .sandboxes = true, .containers = true, .logs = true};
    runtime->at = clock.monotonic();
    RuntimeImage image;
    image.id = "sha256:unused";
    image.size = 1_GiB;
    image.tags = {"example/unused:1"};
    image.first_detected = clock.wall() - 1h;
    runtime->images = {image};
    agent->note_inventory(runtime);
    EXPECT_THAT(wanted, IsEmpty());
    free(9_GiB);
    agent->note_disks();
    ASSERT_EQ(wanted.size(), 1U) << last().decision.why;
    EXPECT_EQ(wanted[0].inventory_since, clock.monotonic()) << "something may have come since";
    clock.advance(10ms);
    auto newer = std::make_shared<Runtime>(*runtime);
    newer->at = clock.monotonic();
    agent->note_inventory(newer);
    ASSERT_EQ(wanted.size(), 2U) << last().decision.why;
    ASSERT_EQ(wanted[1].removals.size(), 1U);
    EXPECT_EQ(wanted[1].removals.begin()->id, "sha256:unused");
    agent->note_disks();
    clock.advance(1s);
    agent->request_look();
    EXPECT_EQ(wanted.size(), 2U);
    free(20_GiB);
    ReclaimOutcome outcome;
    outcome.pass = wanted[1].pass;
    agent->note_reclaimed(outcome);
    EXPECT_FALSE(last().decision.evict);
    EXPECT_TRUE(last().observation.reclaimed);
}

// After a start images and containers are listed for the first time: until then a reclaim has found nothing out.
TEST_F(AgentDisks, ARuntimeThatWasNeverListedIsWaitedForAsForAReclaim) {
    begin();
    has_runtime = true;
    figures.survey = survey_of("hog", 3_GiB);
    const auto pass = [&](Duration pause) {
        clock.advance(pause);
        free(9_GiB);
        agent->note_disks();
        agent->request_look();
    };
    pass(0s);
    pass(29s);
    EXPECT_FALSE(last().decision.evict) << last().decision.why;
    ASSERT_FALSE(wanted.empty());
    EXPECT_TRUE(wanted[0].inventory_since);
    pass(1s);
    ASSERT_TRUE(last().decision.evict) << last().decision.why;
    EXPECT_EQ(last().decision.evict->pod, PodUid{"hog"});
}

TEST_F(AgentDisks, ALayerThatWasMeasuredBeforeAVictimsEndCountsNoMore) {
    begin();
    see_layer_of_hog(clock.monotonic());
    EXPECT_EQ(usage_of_hog().disk.rootfs, 5_GiB);
    declare(900_MiB);
    cross(100_MiB);
    ASSERT_TRUE(last().decision.evict);
    const auto before_its_end = clock.monotonic();
    clock.advance(1ms);
    declare(10_MiB);
    tree.line(hog_id).processes = 0;
    events.tell(CgroupLife{CgroupChange::emptied, {hog_id}, "/kubepods/podhog"}, clock.monotonic());
    turn();
    declare(100_MiB);  // something starts it again
    clock.advance(1s);
    see_layer_of_hog(before_its_end);
    EXPECT_EQ(usage_of_hog().disk.rootfs, 0_B);
    EXPECT_TRUE(usage_of_hog().disk_partial);
    see_layer_of_hog(clock.monotonic());
    EXPECT_EQ(usage_of_hog().disk.rootfs, 5_GiB);
}

TEST_F(AgentDisks, AVictimsVolumesAreFollowed) {
    begin();
    figures.survey = survey_of("hog", 3_GiB);
    declare(900_MiB);
    cross(100_MiB);
    ASSERT_TRUE(last().decision.evict);
    agent->note_inventory(nullptr);
    ASSERT_FALSE(last().observation.victims.empty());
    EXPECT_EQ(last().observation.victims.front().on_disk, true);
}

}  // namespace
}  // namespace evictd::app
