// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's own configuration beneath evictd's, and where the kubelet is first.
#include "config/kubelet_first.hpp"

#include <gmock/gmock.h>

#include "config/load.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// 8 GiB of memory, 100 GiB on disk.
std::optional<Amount> capacity_of(Signal signal) {
    return Amount{signal == Signal::memory_available ? std::int64_t{8} << 30U : std::int64_t{100} << 30U};
}
std::optional<Amount> unknown_capacity(Signal /*signal*/) { return std::nullopt; }
std::vector<std::string> first(const EvictionConfig& own, const EvictionConfig& kubelet,
                               const CapacityOf& capacity = capacity_of) {
    return kubelet_acts_first(own, kubelet, capacity);
}

EvictionConfig eviction(const std::string& text) { return load(text, "a.yaml")->eviction; }

TEST(KubeletActsFirst, AHigherThresholdOfTheKubeletsIs) {
    const auto kubelet = eviction("evictionHard: {memory.available: 200Mi}\nenforceNodeAllocatable: [none]");
    const auto own = [](const std::string& hard) {
        return eviction("evictionHard: {" + hard + "}\nenforceNodeAllocatable: [none]");
    };
    EXPECT_THAT(first(own("memory.available: 100Mi"), kubelet),
                ElementsAre("the kubelet evicts for memory.available below 200Mi, evictd only later"));
    EXPECT_THAT(first(own("memory.available: 200Mi"), kubelet), IsEmpty());
    EXPECT_THAT(first(own("memory.available: 300Mi"), kubelet), IsEmpty());
    EXPECT_THAT(first(own("pid.available: 10"), kubelet),
                ElementsAre("the kubelet evicts for memory.available below 200Mi, evictd has no threshold on it"));
}

TEST(KubeletActsFirst, AnAmountAndAShareAreComparedByTheCapacity) {
    const auto hard = [](const std::string& threshold) {
        return eviction("evictionHard: {" + threshold + "}\nenforceNodeAllocatable: [none]");
    };
    const auto share = hard("memory.available: 5%");  // 409.6 MiB
    EXPECT_THAT(first(hard("memory.available: 409Mi"), share),
                ElementsAre("the kubelet evicts for memory.available below 5%, evictd only later"));
    EXPECT_THAT(first(hard("memory.available: 410Mi"), share), IsEmpty());
    EXPECT_THAT(first(share, hard("memory.available: 410Mi")),
                ElementsAre("the kubelet evicts for memory.available below 410Mi, evictd only later"));
    EXPECT_THAT(first(share, hard("memory.available: 409Mi")), IsEmpty());
    EXPECT_THAT(first(hard("nodefs.available: 9Gi"), hard("nodefs.available: 10%")),
                ElementsAre("the kubelet evicts for nodefs.available below 10%, evictd only later"));
    EXPECT_THAT(first(share, hard("memory.available: 410Mi"), unknown_capacity), IsEmpty());
}

TEST(KubeletActsFirst, ALongerGracePeriodMakesItLater) {
    const auto soft = [](const std::string& grace) {
        return eviction(
            "evictionHard: {pid.available: 5}\nevictionSoft: {memory.available: 10%}\n"
            "evictionSoftGracePeriod: {memory.available: " +
            grace + "}");
    };
    EXPECT_THAT(first(soft("30s"), soft("30s")), IsEmpty());
    EXPECT_THAT(first(soft("1m"), soft("30s")),
                ElementsAre("the kubelet evicts for memory.available below 10% for 30s, evictd only later"));
}

TEST(LoadKubelet, TheReplyIsUnwrappedAndForeignKeysAreIgnored) {
    const auto config = load_kubelet(
        {"/configz",
         R"({"kubeletconfig":{"cgroupRoot":"/k","evictionHard":{"memory.available":"7%"},"podsPerCore":0}})"});
    ASSERT_TRUE(config);
    EXPECT_EQ(config->cgroup_root, "/k");
    ASSERT_EQ(config->eviction.thresholds.size(), 2U);  // and its copy for what is allocatable
}

// An agent without a threshold protects nothing.
TEST(LoadKubelet, WhileItIsUnknownItsDefaultForMemoryHoldsUnlessTheFileHasThresholds) {
    const auto none = load_files(std::nullopt, std::nullopt, unknown_kubelet());
    ASSERT_TRUE(none) << none.error().front().text();
    const auto memory = load("evictionHard: {memory.available: 100Mi}", "a.yaml");
    ASSERT_TRUE(memory);
    EXPECT_EQ(none->eviction.thresholds, memory->eviction.thresholds);
    const auto own = load("evictionHard: {memory.available: 1Gi}\nenforceNodeAllocatable: [none]", "a.yaml");
    fakes::TempDir dir;
    dir.write("a.yaml", "evictionHard: {memory.available: 1Gi}\nenforceNodeAllocatable: [none]");
    const auto merged = load_files(std::nullopt, dir / "a.yaml", unknown_kubelet());
    ASSERT_TRUE(own && merged);
    EXPECT_EQ(merged->eviction.thresholds, own->eviction.thresholds);
}

TEST(LoadKubelet, AnythingElseIsAFaultAndNotTheDefaults) {
    for (const auto* text : {"{}", "[]", "", R"({"kind":"Status"})", R"({"kubeletconfig":7})", "<html>"}) {
        EXPECT_FALSE(load_kubelet({"/configz", text})) << text;
    }
}

TEST(LoadKubelet, TheFilesOverrideIt) {
    const KubeletText kubelet{"/configz",
                              R"({"kubeletconfig":{"cgroupRoot":"/k","evictionPressureTransitionPeriod":"7m0s"}})"};
    const auto config = load_files(std::nullopt, std::nullopt, kubelet);
    ASSERT_TRUE(config);
    EXPECT_EQ(config->cgroup_root, "/k");
    EXPECT_EQ(config->eviction.pressure_transition_period, std::chrono::minutes(7));
}

TEST(DifferentSettings, NamesWhatANewFileWants) {
    const auto old = load("", "a.yaml");
    const auto fresh = load("cgroupRoot: /k\nevictd: {httpAddress: '127.0.0.1:1234', lookPeriod: 1s}", "a.yaml");
    ASSERT_TRUE(old && fresh);
    auto in_force = *old;
    in_force.eviction = fresh->eviction;
    EXPECT_THAT(different_settings(in_force, *fresh), ElementsAre("evictd.httpAddress", "cgroupRoot"));
    EXPECT_THAT(different_settings(*fresh, *fresh), IsEmpty());
}

}  // namespace
}  // namespace evictd::config
