// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd check` prints says what the file means, and only colours when asked.
#include "config/describe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace evictd::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Describe, ShowsThresholdsWithWhereTheyAreCopiedFrom) {
    const auto config = load(
        "evictionHard: {memory.available: 5%, allocatableMemory.available: 1Gi}\nevictionSoft: {memory.available: "
        "1.5Gi}\n"
        "evictionSoftGracePeriod: {memory.available: 90s}\nevictionMinimumReclaim: {memory.available: 64Mi}\n",
        "f.yaml");
    ASSERT_TRUE(config);
    EXPECT_EQ(describe(*config, false),
              "configuration                  f.yaml\n"
              "\n"
              "SIGNAL                       KIND  VALUE   GRACE  MIN RECLAIM  COPIED FROM\n"
              "memory.available             hard  5%      -      64Mi         -\n"
              "allocatableMemory.available  hard  1Gi     -      -            -\n"
              "memory.available             soft  1536Mi  1m30s  64Mi         -\n"
              "allocatableMemory.available  hard  5%      -      64Mi         memory.available\n"
              "\n"
              "conditions stay for            5m0s\n"
              "grace of soft evictions        1s (no evictionMaxPodGracePeriod)\n"
              "image garbage collection       above 85% down to 80%, images of 2m0s and older\n");
}

TEST(Describe, SaysWhichThresholdsAreNotActedOn) {
    const std::string text =
        "evictionHard: {pid.available: 1k, nodefs.available: 10%, nodefs.inodesFree: 5%}\n"
        "evictionSoft: {nodefs.available: 20%}\nevictionSoftGracePeriod: {nodefs.available: 1m}\n";
    const auto without = load(text, "f.yaml");
    ASSERT_TRUE(without);
    EXPECT_THAT(describe(*without, false), HasSubstr("note: evictd run does not act on nodefs.available, "
                                                     "nodefs.inodesFree, because evictd.disks is off\n"));
    const auto with = load(text + "evictd: {disks: true}\n", "f.yaml");
    ASSERT_TRUE(with);
    EXPECT_THAT(describe(*with, false), Not(HasSubstr("not act on nodefs")));
}

TEST(Describe, SaysThatNoThresholdIsOnMemory) {
    const auto without = load("evictionHard: {pid.available: 1k}\n", "f.yaml");
    ASSERT_TRUE(without);
    EXPECT_THAT(describe(*without, false), HasSubstr("note: there is no threshold on memory"));
    const auto with = load("evictionHard: {pid.available: 1k, memory.available: 1Gi}\n", "f.yaml");
    ASSERT_TRUE(with);
    EXPECT_THAT(describe(*with, false), Not(HasSubstr("no threshold on memory")));
}

TEST(Describe, WarnsOfAThresholdInTimeThatNeverActs) {
    const auto warnings = [](const std::string& times) {
        const auto config =
            load("evictionHard: {nodefs.available: 10%}\nevictd:\n  disks: true\n  timeToExhaustion: {" + times + "}\n",
                 "f.yaml");
        return config ? config->warnings : std::vector<std::string>{"refused"};
    };
    EXPECT_THAT(warnings("soft: 10s, diskSoft: 5m"), testing::IsEmpty());
    EXPECT_THAT(warnings("soft: 0s, softGracePeriod: 9s"), testing::IsEmpty());
    EXPECT_THAT(warnings("diskSoft: 30s"), testing::ElementsAre(HasSubstr("grace period of 30s")));
    EXPECT_THAT(warnings("soft: 3s, softGracePeriod: 4s"),
                testing::ElementsAre(HasSubstr("longer than evictd.timeToExhaustion.softGracePeriod")));
}

TEST(Describe, WarnsOfWhatIsAcceptedAndHardlyMeant) {
    const auto config = load(
        "evictionHard: {memory.available: 500Mi, pid.available: 20000000000G, nodefs.inodesFree: 100%}\n"
        "evictionSoft: {memory.available: 400Mi, nodefs.available: 20%, imagefs.inodesFree: 100%}\n"
        "evictionSoftGracePeriod: {memory.available: 90s, nodefs.available: 1m, imagefs.available: 1m}\n",
        "f.yaml");
    ASSERT_TRUE(config);
    const auto text = describe(*config, false);
    EXPECT_THAT(text, HasSubstr("warning: f.yaml:2: evictionSoft.memory.available: the soft threshold is not above"));
    EXPECT_THAT(text,
                HasSubstr("warning: f.yaml:3: evictionSoftGracePeriod.imagefs.available: a grace period without"));
    EXPECT_THAT(text, HasSubstr("warning: f.yaml:1: evictionHard.pid.available: more than 64 bits hold"));
    EXPECT_THAT(text,
                HasSubstr("warning: f.yaml:1: evictionHard.nodefs.inodesFree: 100% sets no threshold: the kubelet "
                          "and evictd ignore it (0% to switch it off, or a lower percentage)"));
    EXPECT_THAT(text, HasSubstr("warning: f.yaml:2: evictionSoft.imagefs.inodesFree: 100% sets no threshold"));
    EXPECT_EQ(config->warnings.size(), 5U);
    const auto tiny = load(
        "evictionHard: {memory.available: 500, nodefs.inodesFree: 500, pid.available: 500, imagefs.available: 1Mi}\n",
        "f.yaml");
    ASSERT_TRUE(tiny);
    EXPECT_THAT(tiny->warnings,
                testing::ElementsAre(HasSubstr("evictionHard.memory.available: it is in bytes, and less than 1Mi")));
    const auto plain = load(
        "evictionHard: {memory.available: 5%, nodefs.available: 0%}\nevictionSoft: {memory.available: 1Gi}\n"
        "evictionSoftGracePeriod: {memory.available: 90s}\n",
        "f.yaml");
    ASSERT_TRUE(plain);
    EXPECT_THAT(describe(*plain, false), Not(HasSubstr("warning")));
}

TEST(Describe, ShowsSettingsThatAreNotTheDefaults) {
    const auto config = load(
        "evictionHard: {}\nevictionMaxPodGracePeriod: 30\ncgroupRoot: /kubelet\n"
        "evictd: {dryRun: true, bpf: required, eventLog: {maxSize: 1Mi}, lookPeriod: 10s, podManifestPath: ''}\n",
        "f.yaml");
    ASSERT_TRUE(config);
    const std::string text = describe(*config, false);
    EXPECT_THAT(text, HasSubstr("no thresholds: nothing is ever evicted for pressure\n"));
    EXPECT_THAT(text, HasSubstr("grace of soft evictions        at most 30s for a pod\n"));
    EXPECT_THAT(text, HasSubstr("cgroupRoot                     /kubelet\n"));
    EXPECT_THAT(text, HasSubstr("evictd.dryRun                  true\n"));
    EXPECT_THAT(text, HasSubstr("evictd.bpf                     required\n"));
    EXPECT_THAT(text, HasSubstr("evictd.eventLog.maxSize        1Mi\n"));
    EXPECT_THAT(text, HasSubstr("evictd.podManifestPath         (none)\n"));
    EXPECT_THAT(text, Not(HasSubstr("lookPeriod")));
}

TEST(Describe, ShowsWhatASoftEvictionLeavesAPod) {
    const auto line = [](const std::string& yaml) {
        const std::string text = describe(load(yaml, "f.yaml").value(), false);
        const auto begin = text.find("grace of soft evictions");
        return text.substr(begin + 31, text.find('\n', begin) - begin - 31);
    };
    EXPECT_EQ(line("{}"), "1s (no evictionMaxPodGracePeriod)");
    EXPECT_EQ(line("evictionMaxPodGracePeriod: -1"), "1s (a negative maximum)");
    EXPECT_EQ(line("evictd: {softEvictionGrace: pod}"), "the pod's own terminationGracePeriodSeconds");
    EXPECT_EQ(line("{evictionMaxPodGracePeriod: 30, evictd: {softEvictionGrace: pod}}"), "at most 30s for a pod");
}

TEST(Describe, ContainerfsIsNotedInTheKubeletsWordsForItWillBeOverwritten) {
    const auto config = load(
        "evictionHard: {containerfs.available: 5%, containerfs.inodesFree: 5%}\n"
        "evictionSoft: {containerfs.available: 10%}\nevictionSoftGracePeriod: {containerfs.available: 1m}\n",
        "f.yaml");
    ASSERT_TRUE(config);
    EXPECT_THAT(describe(*config, false),
                HasSubstr("\nnote: found containerfs.available for hard eviction. ignoring (it is made from nodefs or "
                          "imagefs)\nnote: found containerfs.inodesFree for hard eviction. ignoring (it is made from "
                          "nodefs or imagefs)\nnote: found containerfs.available for soft eviction. ignoring"));
    EXPECT_THAT(describe(Config{}, false), Not(HasSubstr("note:")));
}

TEST(Describe, ShowsWhatElseThePolicyGoesBy) {
    const auto config = load(
        "localStorageCapacityIsolation: false\nimageGCHighThresholdPercent: 90\nimageMinimumGCAge: 1h\n"
        "imageMaximumGCAge: 24h\nevictd: {ranking: qos, tieBreak: uid, guaranteedOOMScoreAdj: -998}\n",
        "f.yaml");
    ASSERT_TRUE(config);
    const std::string text = describe(*config, false);
    EXPECT_THAT(text, HasSubstr("localStorageCapacityIsolation  false\n"));
    EXPECT_THAT(text, HasSubstr("image garbage collection       above 90% down to 80%, images of 1h0m0s and older, all "
                                "unused for 24h0m0s\n"));
    EXPECT_THAT(text, HasSubstr("evictd.ranking                 qos\n"));
    EXPECT_THAT(text, HasSubstr("evictd.tieBreak                uid\n"));
    EXPECT_THAT(text, HasSubstr("evictd.guaranteedOOMScoreAdj   -998\n"));
}

TEST(Describe, TheDefaultsAreMarkedAsBuiltIn) {
    const std::string text = describe(load_files(std::nullopt, std::nullopt).value(), false);
    EXPECT_THAT(text, HasSubstr("configuration                  built-in defaults\n"));
    EXPECT_THAT(text, HasSubstr("imagefs.available            hard  15%    -      -            -\n"));
    EXPECT_THAT(text, Not(HasSubstr("\nevictd.")));
}

TEST(Describe, ColoursOnlyWhenAsked) {
    const Config config = load("", "f.yaml").value();
    EXPECT_THAT(describe(config, false), Not(HasSubstr("\x1b")));
    EXPECT_THAT(describe(config, true), HasSubstr("\x1b[1m"));
}

}  // namespace
}  // namespace evictd::config
