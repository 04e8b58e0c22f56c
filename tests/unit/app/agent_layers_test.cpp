// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How often an agent has the runtime asked for writable layers.
#include "agent_disks_fixture.hpp"

namespace evictd::app {
namespace {

using testing::ElementsAre;

struct AgentLayers : AgentDisks {
    // Of every pod, as of now.
    void know_all() {
        Survey survey;
        survey.listed = clock.monotonic() + 1h;
        figures.survey = std::make_shared<const Survey>(std::move(survey));
        const auto layer = [](const char* uid, Bytes used) {
            return observe::ContainerLayer{.pod = {uid}, .name = "main", .usage = RuntimeUsage{.used = used}};
        };
        figures.layers = std::make_shared<const observe::ContainerLayers>(
            observe::ContainerLayers{.of = {layer("hog", 5_GiB), layer("quiet", 1_MiB)}, .at = clock.monotonic()});
    }
    // The hog is evicted, and ends; its container is still there.
    void evict_hog() {
        free(9_GiB);
        agent->note_disks();
        clock.advance(30ms);
        know_all();
        free(9_GiB);
        agent->note_disks();
        agent->request_look();
        ASSERT_EQ(tree.handle(hog_id)->kills, 1);
        tree.declare({{.id = root_id, .level = 1, .usage = 201_MiB, .limit = 1_GiB},
                      {.id = quiet_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "quiet"},
                      {.id = hog_id, .level = 2, .usage = 0_B, .processes = 0, .pod = "hog"}});
    }
    void look(Bytes available) {
        clock.advance(1s);
        free(available);
        agent->note_disks();
        agent->request_look();
    }
};

TEST_F(AgentLayers, AreReadTwiceAMinuteWhereNothingIsDecidedByThem) {
    begin();
    EXPECT_THAT(layer_paces, ElementsAre(30s));
    free(11_GiB);
    agent->note_disks();
    EXPECT_THAT(layer_paces, ElementsAre(30s)) << "all is asked anew at a crossing";
    free(9_GiB);
    agent->note_disks();
    EXPECT_THAT(layer_paces, ElementsAre(30s, 1s));
    clock.advance(10s);
    free(9_GiB);
    agent->request_look();
    EXPECT_THAT(layer_paces, ElementsAre(30s, 1s)) << "a runtime that comes back is heard at once";
    free(500_GiB);
    agent->note_disks();
    EXPECT_THAT(layer_paces, ElementsAre(30s, 1s, 30s));
}

TEST_F(AgentLayers, AreReadEveryTenSecondsWhereAPodHasALimit) {
    begin();
    limit_storage_of_hog();
    EXPECT_THAT(layer_paces, ElementsAre(30s, 10s));
    eviction.local_storage_isolation = false;
    agent->set_config(eviction);
    agent->request_look();
    EXPECT_THAT(layer_paces, ElementsAre(30s, 10s, 30s)) << "a limit that nobody applies";
}

TEST_F(AgentLayers, AreReadEveryTenSecondsWhereAThresholdIsInTime) {
    eviction.disk_time_to_exhaustion = 10min;
    begin();
    EXPECT_THAT(layer_paces, ElementsAre(10s));
}

// The first look is made before any of their threads is.
TEST_F(AgentLayers, APaceThatWasNotTakenIsToldAgain) {
    is_there = false;
    begin();
    is_there = true;
    agent->request_look();
    EXPECT_THAT(paces, ElementsAre(10s));
    EXPECT_THAT(layer_paces, ElementsAre(30s));
}

TEST_F(AgentLayers, FiguresThatNothingIsDecidedByAreNoLookOfTheirOwn) {
    begin();
    const auto next = agent->next_look();
    figures.survey = survey_of("hog", 3_GiB);
    agent->note_disks();
    EXPECT_EQ(agent->next_look(), next);
    agent->request_look();
    EXPECT_EQ(usage_of_hog().disk.volumes, 3_GiB) << "the look that is due has them";
}

// The next one waits for it.
TEST_F(AgentLayers, AreReadEverySecondUntilAVictimsAreRemoved) {
    begin();
    evict_hog();
    look(9_GiB);
    look(9_GiB);
    EXPECT_EQ(layer_paces.back(), 1s);
    EXPECT_EQ(tree.handle(quiet_id)->kills, 0);
}

TEST_F(AgentLayers, AreReadEverySecondUntilAVictimsAreRemovedAlsoBelowTheMinimumReclaim) {
    begin();
    for (auto& threshold : eviction.thresholds) {
        threshold.min_reclaim = ThresholdValue{Quantity::of((5_GiB).value)};
    }
    agent->set_config(eviction);
    evict_hog();
    look(12_GiB);
    look(12_GiB);
    EXPECT_EQ(layer_paces.back(), 1s);
}

TEST_F(AgentLayers, AreReadEveryTenSecondsWhileAFilesystemFillsUp) {
    begin();
    for (int left = 400; left > 360; left--) look(Bytes{std::int64_t{left} << 30U});
    ASSERT_FALSE(last().decision.disk_exhaustion.empty());
    EXPECT_EQ(layer_paces.back(), 10s) << "who fills it is measured";
}

}  // namespace
}  // namespace evictd::app
