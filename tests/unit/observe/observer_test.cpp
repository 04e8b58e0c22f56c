// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One look over declared cgroup trees.
#include "observe/observer.hpp"

#include <gtest/gtest.h>

#include "unit/observe/observing.hpp"

namespace evictd::observe {
namespace {

TEST_F(Observing, AvailableIsTheLimitMinusTheWorkingSetOfTheWholeTree) {
    declare({{.id = 1, .level = 1, .usage = 700_MiB, .limit = 1_GiB, .inactive_file = 10_MiB},
             {.id = 2, .level = 2, .usage = 600_MiB, .inactive_file = 40_MiB, .pod = "uid-a"},
             {.id = 3, .level = 3, .usage = 500_MiB, .inactive_file = 50_MiB}},
            {"uid-a"});
    const auto reading = allocatable(look());
    EXPECT_EQ(reading.available.value, (1_GiB - 700_MiB + 100_MiB).value);
    EXPECT_EQ(reading.capacity.value, (1_GiB).value);
}

TEST_F(Observing, BothWaysToCountStandBesideEachOtherAndTheKubeletsIsCompared) {
    declare({{.id = 1, .level = 1, .usage = 900_MiB, .limit = 1_GiB, .inactive_file = 10_MiB, .active_file = 100_MiB},
             {.id = 2, .level = 2, .usage = 600_MiB, .inactive_file = 40_MiB, .active_file = 200_MiB, .pod = "uid-a"}},
            {"uid-a"});
    const auto observation = look();
    const auto pods = allocatable(observation);
    EXPECT_EQ(pods.available.value, (1_GiB - 850_MiB).value);
    EXPECT_EQ(pods.memory->kubelet, 1_GiB - 850_MiB);
    EXPECT_EQ(pods.memory->reclaimable, 1_GiB - 550_MiB);
    EXPECT_EQ(observation.pods[0].usage->working_set, 560_MiB) << "the rank is the kubelet's";
    const auto& reading = observation.readings[static_cast<std::size_t>(Signal::memory_available)];
    EXPECT_EQ(reading->available.value, (3_GiB).value);
    EXPECT_EQ(reading->memory->kubelet, 3_GiB);
    EXPECT_EQ(reading->memory->reclaimable, 4_GiB);
    EXPECT_EQ(reading->memory->compared, MemoryAvailable::kubelet);
}

TEST_F(Observing, MoreCacheThanUsageIsNoMoreThanTheLimit) {
    declare({{.id = 1, .level = 1, .usage = 50_MiB, .limit = 1_GiB, .inactive_file = 30_MiB, .active_file = 30_MiB}},
            {});
    EXPECT_EQ(allocatable(look()).memory->reclaimable, 1_GiB);
    declare({{.id = 1, .level = 1, .usage = 2_GiB, .limit = 1_GiB, .active_file = 30_MiB}}, {});
    EXPECT_EQ(allocatable(look()).memory->reclaimable, 0_B);
}

TEST_F(Observing, WithoutALimitTheNodeIsTheCapacity) {
    declare({{.id = 1, .level = 1, .usage = 1_GiB}}, {});
    EXPECT_EQ(allocatable(look()).available.value, (7_GiB).value);
}

TEST_F(Observing, APodsWorkingSetLeavesOutTheInactiveFileCacheOfItsContainers) {
    declare({{.id = 1, .level = 1, .usage = 300_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 200_MiB, .inactive_file = 5_MiB, .processes = 0, .pod = "uid-a"},
             {.id = 3,
              .level = 3,
              .usage = 120_MiB,
              .inactive_file = 20_MiB,
              .active_file = 7_MiB,
              .anon = 80_MiB,
              .processes = 2},
             {.id = 4, .level = 3, .usage = 70_MiB, .inactive_file = 30_MiB, .anon = 40_MiB, .processes = 1},
             {.id = 5, .level = 2, .usage = 100_MiB, .anon = 100_MiB, .processes = 9, .pod = "uid-b"}},
            {"uid-a", "uid-b"});
    const auto observation = look();
    ASSERT_EQ(observation.pods.size(), 2U);
    const auto& usage = *observation.pods[0].usage;
    EXPECT_EQ(usage.usage, 200_MiB);
    EXPECT_EQ(usage.working_set, 145_MiB);
    EXPECT_EQ(usage.file, 62_MiB);
    EXPECT_EQ(usage.anon, 120_MiB);
    EXPECT_EQ(usage.processes, 3);
    EXPECT_TRUE(observation.pods[0].populated);
    EXPECT_EQ(observation.pods[1].usage->processes, 9);
}

TEST_F(Observing, WhetherAPodIsPopulatedIsTheKernelsWordAndNoCount) {
    declare({{.id = 1, .level = 1, .usage = 300_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 150_MiB, .processes = 0, .pod = "uid-a", .populated = true},
             {.id = 3, .level = 2, .usage = 10_MiB, .processes = 1, .pod = "uid-b", .populated = false}},
            {"uid-a", "uid-b"});
    const auto observation = look();
    EXPECT_TRUE(observation.pods[0].populated);
    EXPECT_FALSE(observation.pods[1].populated);
}

TEST_F(Observing, APassThatFailsEmptiesNoPod) {
    declare({{.id = 1, .level = 1}, {.id = 2, .level = 2, .usage = 1_MiB, .processes = 1, .pod = "uid-a"}},
            {"uid-a", "uid-b"});
    tree.broken = "Too many open files";
    const auto observation = look();
    EXPECT_TRUE(observation.pods[0].populated) << "not seen is not gone";
    EXPECT_FALSE(observation.pods[1].populated) << "it has no cgroup at all";
    EXPECT_TRUE(observation.usage_unknown);
    tree.broken.clear();
    EXPECT_FALSE(look().usage_unknown);
    tree.broken = "Too many open files";
    (void)look();
    EXPECT_FALSE(observer.found({2}));
    EXPECT_EQ(observer.trouble(), "usage: Too many open files");
}

TEST_F(Observing, YoungPodsThatNoSourceKnowsAreSeenWithWhatTheyHold) {
    declare({{.id = 1, .level = 1, .usage = 300_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 150_MiB, .inactive_file = 5_MiB, .processes = 0, .pod = "late"},
             {.id = 3, .level = 3, .usage = 40_MiB, .inactive_file = 20_MiB, .processes = 1},
             {.id = 4, .level = 2, .usage = 70_MiB, .inactive_file = 10_MiB, .processes = 1, .pod = "uid-a"},
             {.id = 5, .level = 3, .usage = 60_MiB, .processes = 1, .pod = "named-by-a"}},
            {"uid-a"});
    auto seen = look().unknown_pods;
    ASSERT_EQ(seen.size(), 1U) << "a cgroup in a pod's is that pod's";
    EXPECT_EQ(seen[0].pod, PodUid{"late"});
    EXPECT_EQ(seen[0].cgroup, CgroupId{2});
    EXPECT_EQ(seen[0].first_seen, clock.monotonic());
    EXPECT_EQ(seen[0].working_set, 125_MiB);
    EXPECT_TRUE(seen[0].populated);
    Pod late = *pod("late");
    late.origin = PodOrigin::static_file;
    table.set_pods(0, {pod("uid-a"), std::make_shared<const Pod>(late)});
    EXPECT_TRUE(look().unknown_pods.empty());
    table.set_pods(0, {pod("uid-a")});
    EXPECT_EQ(look().unknown_pods.size(), 1U);
    clock.advance(unknown_pod_period);
    EXPECT_TRUE(look().unknown_pods.empty()) << "its manifest is not expected any more";
    const auto told = observer.unknown(table, 5);
    ASSERT_EQ(told.size(), 1U) << "but people are told of it";
    EXPECT_EQ(told[0].working_set, 125_MiB);
    EXPECT_TRUE(observer.unknown(table, 0).empty());
}

TEST_F(Observing, CgroupsWithoutAProcessThatNoSourceKnowsAreLeftHoweverOldTheyAre) {
    declare({{.id = 1, .level = 1, .usage = 300_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 1_MiB, .processes = 0, .pod = "empty-b"},
             {.id = 3, .level = 3, .usage = 1_MiB, .processes = 0},
             {.id = 4, .level = 2, .usage = 1_MiB, .processes = 0, .pod = "lively"},
             {.id = 5, .level = 3, .usage = 1_MiB, .processes = 1},
             {.id = 6, .level = 2, .usage = 70_MiB, .processes = 0, .pod = "uid-a"},
             {.id = 7, .level = 2, .usage = 1_MiB, .processes = 0, .pod = "empty-a"},
             {.id = 8, .level = 2, .usage = 1_MiB, .processes = 0, .pod = "empty-c"}},
            {"uid-a"});
    (void)look();
    clock.advance(10 * unknown_pod_period);
    (void)look();
    const auto left = observer.left(table, [](const PodUid& pod) { return pod.value != "empty-c"; });
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].pod, PodUid{"empty-a"});
    EXPECT_EQ(left[1].pod, PodUid{"empty-b"});
    EXPECT_EQ(left[1].path, table.cgroup_of(PodUid{"empty-b"})->path());
}

// A pod that is deleted by force: its processes run for its grace period, and it is ranked by what they hold.
TEST_F(Observing, APodThatLeftTheApiServerIsSeenWithWhatItHoldsWhileItsCgroupIsThere) {
    declare({{.id = 1, .level = 1, .usage = 300_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 150_MiB, .inactive_file = 5_MiB, .processes = 1, .pod = "uid-a"}},
            {"uid-a"});
    table.set_pods(0, {});
    const auto seen = look();
    ASSERT_EQ(seen.pods.size(), 1U);
    EXPECT_EQ(seen.pods[0].pod->full_name(), "default/uid-a");
    EXPECT_EQ(seen.pods[0].usage->working_set, 145_MiB);
    EXPECT_TRUE(seen.pods[0].populated);
    EXPECT_TRUE(seen.unknown_pods.empty());
}

TEST_F(Observing, ARemovedCgroupsPagesAreItsPodsAndARemovedPodsAreTheRoots) {
    declare({{.id = 1, .level = 1, .usage = 400_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 150_MiB, .processes = 1, .pod = "uid-a"},
             {.id = 3, .level = 3, .usage = 100_MiB, .inactive_file = 90_MiB, .dying = true},
             {.id = 4, .level = 2, .usage = 230_MiB, .inactive_file = 200_MiB, .dying = true},
             {.id = 5, .level = 3, .usage = 20_MiB, .inactive_file = 10_MiB, .dying = true}},
            {"uid-a"});
    const auto observation = look();
    EXPECT_EQ(observation.pods[0].usage->working_set, 60_MiB);
    EXPECT_EQ(allocatable(observation).memory->kubelet, 1_GiB - 100_MiB);
    EXPECT_EQ(observer.found({4})->usage, 230_MiB);
    EXPECT_EQ(observer.found({4})->working_set, 20_MiB);
    EXPECT_FALSE(observer.found({4})->populated);
    EXPECT_EQ(observer.found({77})->usage, 0_B) << "all of it came back";
}

TEST_F(Observing, APodWithTooManyCgroupsIsNamed) {
    declare({{.id = 1, .level = 1, .usage = 100_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 50_MiB, .inactive_file = 40_MiB, .pod = "uid-a", .whole = true}},
            {"uid-a"});
    EXPECT_EQ(look().pods[0].usage->working_set, 10_MiB);
    EXPECT_TRUE(observer.counts_whole());
    EXPECT_NE(observer.trouble().find("too many cgroups below"), std::string::npos) << observer.trouble();

    tree.controller = fail(ErrorKind::failed, "memory.stat", "no more descriptors");
    (void)look();
    EXPECT_NE(observer.trouble().find("no more descriptors"), std::string::npos) << observer.trouble();
    EXPECT_NE(observer.trouble().find("too many cgroups below"), std::string::npos) << observer.trouble();
}

// 250 MiB were read, and the kernel has not added them up yet.
TEST_F(Observing, ForADecisionTheKernelAddsUpWhatIsCountedAsAWholeWhateverTheLooksCause) {
    declare({{.id = 1, .level = 1, .usage = 700_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 300_MiB, .pod = "uid-a", .whole = true}},
            {"uid-a"});
    tree.controller = port::RootCount{.inactive_file = 250_MiB, .active_file = {}, .at = {}};
    tree.on_controller_read = [&] { tree.line(2).inactive_file = 250_MiB; };
    const auto rehearsal = observer.look({}, table, {}, {}, LookFor::rehearsal);
    EXPECT_EQ(allocatable(rehearsal).memory->kubelet, 324_MiB);
    EXPECT_EQ(tree.controller_reads, 0) << "nothing hangs on it";

    for (const auto cause : {CauseKind::timer, CauseKind::requested, CauseKind::config, CauseKind::pods_changed}) {
        tree.line(2).inactive_file = 0_B;
        const auto observation = observer.look({.kind = cause, .event = {}, .detected_at = {}}, table, {}, {});
        EXPECT_EQ(allocatable(observation).memory->kubelet, 574_MiB) << static_cast<int>(cause);
        EXPECT_EQ(allocatable(observation).at, clock.monotonic());
        EXPECT_EQ(observation.pods[0].usage->working_set, 50_MiB) << "what it is ranked by";
    }
    EXPECT_EQ(tree.controller_reads, 4);
}

// The kernel may leave its counters as they are for 2 s, also when memory.stat is read.
TEST_F(Observing, PageCacheThatTheControllerHasNotCountedYetEvictsAndRanksNoPod) {
    declare({{.id = 1, .level = 1, .usage = 700_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 300_MiB, .pod = "uid-a", .whole = true}},
            {"uid-a"});
    const auto available = [&](std::optional<Bytes> accounted, Bytes uncounted_cache) {
        tree.uncounted = uncounted_cache;
        tree.controller = port::RootCount{.inactive_file = 0_B, .active_file = {}, .at = {}, .accounted = accounted};
        const auto observation = look();
        return std::pair(allocatable(observation).memory->kubelet, observation.pods[0].usage->working_set);
    };
    EXPECT_EQ(available(450_MiB, 260_MiB), std::pair(574_MiB, 50_MiB));
    EXPECT_EQ(available(450_MiB, 20_MiB), std::pair(344_MiB, 280_MiB)) << "the rest is of no kind, and no page cache";
    EXPECT_EQ(available(450_MiB, 0_B), std::pair(324_MiB, 300_MiB)) << "unmapped pages that a pipe holds";
    EXPECT_EQ(available(std::nullopt, 260_MiB), std::pair(324_MiB, 300_MiB)) << "what is accounted is not known";
    EXPECT_EQ(available(697_MiB, 260_MiB), std::pair(324_MiB, 300_MiB)) << "the CPUs' reserves";
    EXPECT_EQ(available(800_MiB, 260_MiB), std::pair(324_MiB, 300_MiB)) << "memory that was given back meanwhile";
}

TEST_F(Observing, WhatIsChargedAfterTheCountIsInTheNextLook) {
    declare({{.id = 1, .level = 1, .usage = 700_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 300_MiB, .pod = "uid-a", .whole = true}},
            {"uid-a"});
    tree.controller = port::RootCount{.inactive_file = 250_MiB, .active_file = {}, .at = {}, .accounted = 700_MiB};
    tree.on_controller_read = [&] { tree.line(1).usage = 760_MiB; };
    EXPECT_EQ(allocatable(look()).memory->kubelet, 574_MiB);
}

// 366 MiB were read within a second, the two counts are some milliseconds apart, and the controller knows of none of
// it.
TEST_F(Observing, AControllerThatIsBehindDoesNotDecideBetweenTwoCounts) {
    declare({{.id = 1, .level = 1, .usage = 1023_MiB, .limit = 1_GiB, .inactive_file = 366_MiB}}, {});
    tree.timer = {.inactive_file = 356_MiB, .active_file = {}, .at = clock.monotonic()};
    tree.controller = port::RootCount{.inactive_file = 0_B, .active_file = {}, .at = {}, .accounted = 657_MiB};
    EXPECT_EQ(allocatable(look()).memory->kubelet, 367_MiB);
    EXPECT_EQ(tree.controller_reads, 1);
    // Other memory was given back for it: the kernel has counted neither, and the sum is the same.
    tree.controller->value().accounted = 1023_MiB;
    EXPECT_EQ(allocatable(look()).memory->kubelet, 367_MiB);
    tree.controller->value().inactive_file = 357_MiB;
    EXPECT_EQ(allocatable(look()).memory->kubelet, 358_MiB) << "two of three";
}

TEST_F(Observing, WhereTwoCountsOfThePageCacheDifferTheControllersOwnIsTaken) {
    declare({{.id = 1, .level = 1, .usage = 900_MiB, .limit = 1_GiB, .inactive_file = 10_MiB}}, {});
    tree.timer = {.inactive_file = 12_MiB, .active_file = {}, .at = clock.monotonic()};
    EXPECT_EQ(allocatable(look()).memory->kubelet, 134_MiB);
    EXPECT_EQ(tree.controller_reads, 0) << "within the tolerance";

    tree.timer->inactive_file = 240_MiB;
    tree.controller = port::RootCount{.inactive_file = 239_MiB, .active_file = {}, .at = {}};
    EXPECT_EQ(allocatable(look()).memory->kubelet, 363_MiB);
    EXPECT_EQ(observer.trouble(), "") << "a file may have been read in between";
    (void)look();
    const auto reported = observer.trouble();
    EXPECT_NE(reported.find("240 MiB by the timer"), std::string::npos) << reported;
    tree.timer->inactive_file = 250_MiB;
    (void)look();
    EXPECT_EQ(observer.trouble(), reported) << "once";

    tree.controller = fail(ErrorKind::failed, "memory.stat", "Too many open files");
    EXPECT_FALSE(look().readings[static_cast<std::size_t>(Signal::allocatable_memory_available)])
        << "no pod is evicted for what is not known";

    tree.timer->at = tree.timer->at - std::chrono::milliseconds(50);
    EXPECT_EQ(allocatable(look()).memory->kubelet, 134_MiB) << "the timer counted too long ago to compare";
}

TEST_F(Observing, ACgroupBesideThePodsBelongsToNoPod) {
    declare({{.id = 1, .level = 1, .usage = 300_MiB, .limit = 1_GiB},
             {.id = 2, .level = 2, .usage = 20_MiB, .anon = 20_MiB, .pod = "uid-a"},
             {.id = 3, .level = 2, .usage = 100_MiB, .anon = 100_MiB, .processes = 3}},
            {"uid-a"});
    EXPECT_EQ(look().pods[0].usage->anon, 20_MiB);
}

TEST_F(Observing, AContainersCgroupIsItsPods) {
    declare({{.id = 1, .level = 1},
             {.id = 2, .level = 2, .pod = "uid-a"},
             {.id = 3, .level = 3},
             {.id = 4, .level = 2},
             {.id = 5, .level = 2, .pod = "uid-b"}},
            {"uid-a", "uid-b"});
    (void)look();
    EXPECT_EQ(observer.owner_of({3}, table), PodUid{"uid-a"});
    EXPECT_EQ(observer.owner_of({5}, table), PodUid{"uid-b"});
    EXPECT_FALSE(observer.owner_of({4}, table));
    EXPECT_FALSE(observer.owner_of({1}, table));
    EXPECT_FALSE(observer.owner_of({77}, table));
}

TEST_F(Observing, APodWithoutACgroupHasNoUsage) {
    declare({{.id = 1, .level = 1, .usage = 1_MiB}}, {"uid-a"});
    const auto observation = look();
    EXPECT_FALSE(observation.pods[0].usage);
    EXPECT_EQ(observation.pods[0].cgroup, CgroupId{});
}

TEST_F(Observing, NoPodsCgroupIsNoTrouble) {
    const auto observation = look();
    EXPECT_FALSE(observation.readings[static_cast<std::size_t>(Signal::allocatable_memory_available)]);
    EXPECT_TRUE(observation.readings[static_cast<std::size_t>(Signal::memory_available)]);
    EXPECT_EQ(observer.trouble(), "");
}

TEST_F(Observing, AReadingThatFailsIsMissingAndReported) {
    node.broken = true;
    EXPECT_FALSE(look().readings[static_cast<std::size_t>(Signal::memory_available)]);
    EXPECT_EQ(observer.trouble(), "/proc/meminfo: unreadable");
}

TEST_F(Observing, FreePagesInCpuListsCountWhileMemoryComesBack) {
    (void)observer.look({}, table, {}, {.memory_returning = true});
    EXPECT_TRUE(node.asked_for_cpu_lists);
}

TEST_F(Observing, AnUrgentLookTakesTheNodesMemoryFromThePass) {
    declare({{.id = 1, .level = 1, .usage = 1_GiB}}, {});
    tree.node = node.reading;
    (void)look();
    tree.node->available = 1_GiB;
    const auto available = [&](std::optional<KernelEventKind> kind) {
        Cause cause;
        if (kind) cause.event = KernelEvent{.time = clock.monotonic(), .kind = std::move(*kind)};
        const auto observation = observer.look(std::move(cause), table, {}, {});
        return Bytes{observation.readings[static_cast<std::size_t>(Signal::memory_available)]->available.value};
    };
    EXPECT_EQ(available(WatermarkCrossed{}), 1_GiB);
    EXPECT_EQ(available(CgroupLife{}), 1_GiB);
    EXPECT_EQ(available(std::nullopt), 3_GiB);
}

TEST_F(Observing, OutcomesOfTheLastTickAreHandedOn) {
    std::vector<Outcome> outcomes(1);
    outcomes[0].action.pod = {"uid-a"};
    EXPECT_EQ(observer.look({}, table, outcomes, {}).outcomes[0].action.pod.value, "uid-a");
}

TEST_F(Observing, AnUrgentLookDoesNotWaitForACountOfProcesses) {
    using port::Pass;
    declare({{.id = 1, .level = 1, .usage = 1_GiB}}, {});
    const Cause crossing{.kind = CauseKind::kernel_event,
                         .event = KernelEvent{.time = clock.monotonic(), .kind = WatermarkCrossed{}},
                         .detected_at = clock.monotonic()};
    (void)observer.look(crossing, table, {}, {});
    (void)look();
    (void)look();  // near a threshold there are many
    clock.advance(std::chrono::seconds(1));
    (void)observer.look(crossing, table, {}, {});
    (void)look();
    EXPECT_EQ(tree.passes_asked, (std::vector{Pass::all_rows, Pass::with_processes, Pass::all_rows, Pass::all_rows,
                                              Pass::with_processes}));
}

TEST_F(Observing, ALookAtACrossingKeepsRowsOfARehearsalRightBeforeIt) {
    using port::Pass;
    declare({{.id = 1, .level = 1, .usage = 1_GiB}}, {});
    const auto rehearse = [&] { (void)observer.look({}, table, {}, {}, LookFor::rehearsal); };
    const auto pass_after = [&](Duration later, std::optional<KernelEventKind> kind) {
        clock.advance(later);
        Cause cause{.kind = CauseKind::timer, .event = {}, .detected_at = clock.monotonic()};
        if (kind) {
            cause.kind = CauseKind::kernel_event;
            cause.event = KernelEvent{.time = clock.monotonic(), .kind = *kind};
        }
        (void)observer.look(cause, table, {}, {});
        return tree.passes_asked.back();
    };
    using std::chrono::milliseconds;
    EXPECT_EQ(pass_after(milliseconds(0), WatermarkCrossed{}), Pass::all_rows) << "the first";
    rehearse();
    EXPECT_EQ(pass_after(milliseconds(20), WatermarkCrossed{}), Pass::changed_rows);
    EXPECT_EQ(pass_after(milliseconds(1), WatermarkCrossed{}), Pass::all_rows) << "an eviction may be under way";
    rehearse();
    EXPECT_EQ(pass_after(milliseconds(21), WatermarkCrossed{}), Pass::all_rows);
    rehearse();
    EXPECT_EQ(pass_after(milliseconds(1), CgroupLife{}), Pass::all_rows) << "a victim's memory may be counted";
    rehearse();
    observer.forget_rehearsal();
    EXPECT_EQ(pass_after(milliseconds(1), WatermarkCrossed{}), Pass::all_rows);
    tree.broken = "no descriptors";
    rehearse();
    tree.broken.clear();
    EXPECT_EQ(pass_after(milliseconds(1), WatermarkCrossed{}), Pass::all_rows) << "nothing was read";
}

TEST_F(Observing, WherePodsMayBeRankedByProcessesEachLookCountsThem) {
    declare({{.id = 1, .level = 1, .usage = 1_GiB}}, {});
    observer.rank_by_processes(true);
    const Cause crossing{.kind = CauseKind::kernel_event,
                         .event = KernelEvent{.time = clock.monotonic(), .kind = WatermarkCrossed{}},
                         .detected_at = clock.monotonic()};
    (void)observer.look(crossing, table, {}, {});
    (void)observer.look(crossing, table, {}, {});
    EXPECT_EQ(tree.passes_asked, std::vector(2, port::Pass::with_processes));
}

}  // namespace
}  // namespace evictd::observe
