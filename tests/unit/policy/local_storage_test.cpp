// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Limits of local storage, one rule at a time.
#include "local_storage.hpp"

#include <functional>

#include <gmock/gmock.h>

#include "qos.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

struct Storage {
    std::vector<std::pair<std::string, std::optional<Bytes>>> containers{{"app", std::nullopt}};  // with their limits
    std::optional<Bytes> size_limit{};  // of the emptyDir "cache"
    bool in_memory = false;
    DiskUsage disk{};
    std::vector<ContainerUsage> measured{};
    bool known = true;
};

ObservedPod pod_with(const Storage& storage) {
    ObservedPod observed = pod({.name = "web"});
    auto made = std::make_shared<Pod>(*observed.pod);
    made->containers.clear();
    for (const auto& [name, limit] : storage.containers) {
        Container one = container(name);
        if (limit) one.limits.ephemeral_storage = quantity(*limit);
        made->containers.push_back(std::move(one));
    }
    Volume volume{"cache", VolumeKind::empty_dir, storage.in_memory, std::nullopt};
    if (storage.size_limit) volume.size_limit = quantity(*storage.size_limit);
    made->volumes = {volume, {"data", VolumeKind::host_path, false, std::nullopt}};
    observed.pod = made;
    observed.usage->disk = storage.disk;
    observed.usage->containers = storage.measured;
    if (!storage.known) observed.usage.reset();
    return observed;
}

std::string message(const Storage& storage, FsLayout layout = FsLayout::single) {
    const auto broken = broken_limit(pod_with(storage), layout);
    return broken ? limit_message(*broken) : "";
}

constexpr auto cache_full = R"(Usage of EmptyDir volume "cache" exceeds the limit "1Gi". )";

TEST(EmptyDirLimit, IsExceededByAByteMore) {
    EXPECT_EQ(message({.size_limit = 1_GiB, .disk = {.empty_dirs = {{"cache", 1_GiB}}}}), "");
    EXPECT_EQ(message({.size_limit = 1_GiB, .disk = {.empty_dirs = {{"cache", 1_GiB + 1_B}}}}), cache_full);
}

TEST(EmptyDirLimit, HoldsInMemoryToo) {
    EXPECT_EQ(message({.size_limit = 1_GiB, .in_memory = true, .disk = {.empty_dirs = {{"cache", 2_GiB}}}}),
              cache_full);
}

TEST(EmptyDirLimit, OfZeroIsNoneAndAnUnmeasuredVolumeBreaksNone) {
    EXPECT_EQ(message({.size_limit = 0_B, .disk = {.empty_dirs = {{"cache", 2_GiB}}}}), "");
    EXPECT_EQ(message({.disk = {.empty_dirs = {{"cache", 2_GiB}}}}), "");
    EXPECT_EQ(message({.size_limit = 1_GiB, .disk = {.empty_dirs = {{"other", 2_GiB}}}}), "");
}

constexpr auto pod_full = "Pod ephemeral local storage usage exceeds the total limit of containers 3Gi. ";

TEST(PodEphemeralStorageLimit, SumsTheContainersLimitsAgainstLayersLogsAndVolumes) {
    const Storage storage{.containers = {{"app", 1_GiB}, {"log", 2_GiB}},
                          .disk = {.rootfs = 1_GiB, .logs = 1_GiB, .volumes = 1_GiB + 1_B}};
    EXPECT_EQ(message(storage), pod_full);
    Storage within = storage;
    within.disk.volumes = 1_GiB;
    EXPECT_EQ(message(within), "");
}

TEST(PodEphemeralStorageLimit, DoesNotCountHostPathVolumes) {
    EXPECT_EQ(message({.containers = {{"app", 3_GiB}}, .disk = {.volumes = 5_GiB, .host_path = 2_GiB}}), "");
    EXPECT_EQ(message({.containers = {{"app", 3_GiB}}, .disk = {.volumes = 5_GiB, .host_path = 1_GiB}}), pod_full);
}

TEST(PodEphemeralStorageLimit, OneContainersLimitIsThePodsThoughOthersHaveNone) {
    EXPECT_EQ(message({.containers = {{"app", 3_GiB}, {"log", std::nullopt}}, .disk = {.volumes = 4_GiB}}), pod_full);
    EXPECT_EQ(message({.containers = {{"app", std::nullopt}}, .disk = {.volumes = 4_GiB}}), "");
}

constexpr auto container_full = R"(Container log exceeded its local ephemeral storage limit "1Gi". )";

TEST(ContainerEphemeralStorageLimit, CountsLogsAndTheWritableLayerUnlessImagesLieApart) {
    const Storage storage{.containers = {{"app", 9_GiB}, {"log", 1_GiB}},
                          .disk = {.rootfs = 1_GiB, .logs = 1_GiB},
                          .measured = {{"log", {}, 1_GiB, 1_MiB}}};
    EXPECT_EQ(message(storage, FsLayout::single), container_full);
    EXPECT_EQ(message(storage, FsLayout::dedicated_image_fs), "");
    EXPECT_EQ(message(storage, FsLayout::split), "");
    Storage logs = storage;
    logs.measured = {{"log", {}, {}, 1_GiB + 1_B}};
    EXPECT_EQ(message(logs, FsLayout::dedicated_image_fs), container_full);
}

TEST(ContainerEphemeralStorageLimit, OfZeroIsNone) {
    EXPECT_EQ(message({.containers = {{"app", 9_GiB}, {"log", 0_B}}, .measured = {{"log", {}, 1_GiB, 1_GiB}}}), "");
}

TEST(LocalStorageEviction, TheVolumeComesBeforeThePodAndThePodBeforeTheContainer) {
    const Storage all{.containers = {{"log", 1_GiB}, {"app", 2_GiB}},
                      .size_limit = 1_GiB,
                      .disk = {.rootfs = 9_GiB, .logs = 1_GiB, .empty_dirs = {{"cache", 2_GiB}}},
                      .measured = {{"log", {}, 9_GiB, 1_GiB}}};
    EXPECT_EQ(message(all), cache_full);
    Storage without_volume = all;
    without_volume.size_limit.reset();
    EXPECT_EQ(message(without_volume), pod_full);
}

TEST(LocalStorageEviction, APodWithoutFiguresBreaksNoLimit) {
    EXPECT_EQ(message({.size_limit = 1_GiB, .disk = {.empty_dirs = {{"cache", 2_GiB}}}, .known = false}), "");
}

// What a look makes of it.

ObservedPod over(const std::string& name, std::optional<std::int32_t> priority = std::nullopt) {
    ObservedPod observed = pod_with({.size_limit = 1_GiB, .disk = {.empty_dirs = {{"cache", 2_GiB}}}});
    auto made = std::make_shared<Pod>(*observed.pod);
    made->uid = {"uid-" + name};
    made->name = name;
    made->priority = priority;
    observed.pod = made;
    return observed;
}

std::vector<std::string> beyond_limits(const Decision& decision) {
    std::vector<std::string> uids;
    for (const auto& eviction : decision.limit_evictions) uids.push_back(eviction.pod.value);
    return uids;
}

TEST(LocalStorageEviction, TakesEveryPodBeyondALimitInsteadOfARankedOneAndWithoutAnyThreshold) {
    Node node{.config = {{hard(1_GiB)}}, .pods = {over("b"), pod({.name = "big", .working_set = 9_GiB}), over("a")}};
    const Decision decision = node.set(1_MiB).look(0s);
    EXPECT_THAT(beyond_limits(decision), ::testing::ElementsAre("uid-b", "uid-a"));
    EXPECT_FALSE(decision.evict);
    ASSERT_EQ(decision.actions.size(), 2U);
    EXPECT_EQ(decision.actions[0].kind, ActionKind::kill);
    EXPECT_EQ(decision.limit_evictions[0].grace_period, 1s);
    EXPECT_THAT(decision.why, ::testing::HasSubstr("default/b uses 2Gi, more than its limit of 1Gi"));
    Node calm{.config = {}, .pods = {over("a")}};
    EXPECT_THAT(beyond_limits(calm.look(0s)), ::testing::ElementsAre("uid-a"));
}

TEST(LocalStorageEviction, NeverTakesACriticalPodNorTheSamePodTwice) {
    Node node{.pods = {over("critical", system_critical_priority), over("a")}};
    EXPECT_THAT(beyond_limits(node.look(0s)), ::testing::ElementsAre("uid-a"));
    EXPECT_THAT(beyond_limits(node.look(1s)), ::testing::IsEmpty());
}

TEST(LocalStorageEviction, IsOffWithoutLocalStorageCapacityIsolation) {
    Node node{.config = {.local_storage_isolation = false}, .pods = {over("a")}};
    EXPECT_THAT(beyond_limits(node.look(0s)), ::testing::IsEmpty());
}

}  // namespace
}  // namespace evictd::policy::testing
