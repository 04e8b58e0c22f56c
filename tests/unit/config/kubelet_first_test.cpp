// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's own configuration beneath evictd's, and where the kubelet is first.
#include "config/kubelet_first.hpp"

#include <gmock/gmock.h>

#include "config/load.hpp"

namespace evictd::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EvictionConfig eviction(const std::string& text) { return load(text, "a.yaml")->eviction; }

TEST(KubeletActsFirst, AHigherThresholdOfTheKubeletsIs) {
    const auto kubelet = eviction("evictionHard: {memory.available: 200Mi}\nenforceNodeAllocatable: [none]");
    const auto own = [](const std::string& hard) {
        return eviction("evictionHard: {" + hard + "}\nenforceNodeAllocatable: [none]");
    };
    EXPECT_THAT(kubelet_acts_first(own("memory.available: 100Mi"), kubelet),
                ElementsAre("the kubelet evicts for memory.available below 200Mi, evictd only later"));
    EXPECT_THAT(kubelet_acts_first(own("memory.available: 200Mi"), kubelet), IsEmpty());
    EXPECT_THAT(kubelet_acts_first(own("memory.available: 300Mi"), kubelet), IsEmpty());
    EXPECT_THAT(kubelet_acts_first(own("memory.available: 1%"), kubelet), IsEmpty());  // depends on the capacity
    EXPECT_THAT(kubelet_acts_first(own("pid.available: 10"), kubelet),
                ElementsAre("the kubelet evicts for memory.available below 200Mi, evictd has no threshold on it"));
}

TEST(KubeletActsFirst, ALongerGracePeriodMakesItLater) {
    const auto soft = [](const std::string& grace) {
        return eviction(
            "evictionHard: {pid.available: 5}\nevictionSoft: {memory.available: 10%}\n"
            "evictionSoftGracePeriod: {memory.available: " +
            grace + "}");
    };
    EXPECT_THAT(kubelet_acts_first(soft("30s"), soft("30s")), IsEmpty());
    EXPECT_THAT(kubelet_acts_first(soft("1m"), soft("30s")),
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
