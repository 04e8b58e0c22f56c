// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd.gc: what is read, what is refused, and with which words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/describe.hpp"
#include "config/load.hpp"
#include "unit/config/faults.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GcSettings, AreAsTheKubeletDoesUnlessGiven) {
    const auto config = load("", "f.yaml");
    ASSERT_TRUE(config);
    const GarbageConfig& garbage = config->eviction.garbage;
    EXPECT_EQ(garbage.images, ReclaimedImages::unused);
    EXPECT_EQ(garbage.logs, ReclaimedLogs::off);
    EXPECT_FALSE(garbage.routine);
    EXPECT_EQ(garbage.deadline, 30s);
    EXPECT_EQ(garbage.orphans, Orphans::off);
    EXPECT_EQ(garbage.orphan_quarantine, 10min);
    EXPECT_TRUE(garbage.keep_images.empty());
}

TEST(GcSettings, AreRead) {
    const auto config = load(
        "evictd: {gc: {images: enough, keepImages: [registry.example/base/*, '*:v?'], logs: truncateRotated, "
        "routine: on, deadline: 1m, orphans: remove, orphanQuarantine: 1m}}",
        "f.yaml");
    ASSERT_TRUE(config);
    const GarbageConfig& garbage = config->eviction.garbage;
    EXPECT_EQ(garbage.images, ReclaimedImages::enough);
    EXPECT_EQ(garbage.logs, ReclaimedLogs::truncate_rotated);
    EXPECT_TRUE(garbage.routine);
    EXPECT_EQ(garbage.deadline, 1min);
    EXPECT_EQ(garbage.orphans, Orphans::remove);
    EXPECT_EQ(garbage.orphan_quarantine, 1min);
    EXPECT_THAT(garbage.keep_images, ElementsAre("registry.example/base/*", "*:v?"));
    EXPECT_THAT(describe(*config, false), HasSubstr("registry.example/base/*, *:v?"));
}

TEST(GcSettings, OrphansWithoutDisksAreWarnedOf) {
    const auto warnings = [](const std::string& text) { return load(text, "f.yaml").value().warnings; };
    EXPECT_THAT(
        warnings("evictd: {gc: {orphans: remove}}"),
        ElementsAre("f.yaml:1: evictd.gc.orphans: has no effect without evictd.disks (set evictd.disks: true)"));
    EXPECT_THAT(warnings("evictd: {gc: {orphans: report}, disks: false}"), testing::SizeIs(1));
    EXPECT_THAT(warnings("evictd: {gc: {orphans: remove}, disks: true}"), testing::IsEmpty());
    EXPECT_THAT(warnings("evictd: {gc: {orphans: off}}"), testing::IsEmpty());
}

TEST(GcSettings, ARoutineWithoutDisksIsWarnedOf) {
    const auto warnings = [](const std::string& text) { return load(text, "f.yaml").value().warnings; };
    EXPECT_THAT(
        warnings("evictd: {gc: {routine: on}}"),
        ElementsAre("f.yaml:1: evictd.gc.routine: has no effect without evictd.disks (set evictd.disks: true)"));
    EXPECT_THAT(warnings("evictd: {gc: {routine: on}, disks: true}"), testing::IsEmpty());
    EXPECT_THAT(warnings("evictd: {gc: {routine: off}}"), testing::IsEmpty());
}

TEST(GcSettings, APatternThatNoFullNameMatchesIsWarnedOf) {
    const auto warnings = [](const std::string& text) {
        return load("evictd: {gc: {keepImages: [" + text + "]}}", "f.yaml").value().warnings;
    };
    EXPECT_THAT(
        warnings("'*/nginx:*', nginx"),
        ElementsAre("f.yaml:1: evictd.gc.keepImages[1]: \"nginx\" is not the full name of an image, and may keep "
                    "nothing (such as docker.io/library/nginx:1.27, or with * for what is unknown)"));
    EXPECT_THAT(warnings("nginx:1.27"), testing::SizeIs(1));
    EXPECT_THAT(warnings("docker.io/library/nginx"), testing::SizeIs(1));
    EXPECT_THAT(warnings("'registry.example:5000/shop/web'"), testing::SizeIs(1)) << "a port is no tag";
    EXPECT_THAT(warnings("'registry.example:5000/shop/web:1'"), testing::IsEmpty());
    EXPECT_THAT(warnings("'registry.example:5000/shop/web@sha256:0a'"), testing::IsEmpty());
    EXPECT_THAT(warnings("docker.io/library/nginx:1.27, 'quay.io/a?b', '*', nginx*, 'sha256:0a'"), testing::IsEmpty());
    EXPECT_THAT(warnings(std::string(64, 'a')), testing::IsEmpty());
}

TEST(GcSettings, AListIsNoMap) {
    const auto config = load("evictd: {gc: []}", "f.yaml");
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().front().text(),
                HasSubstr("f.yaml:1: evictd.gc: found a list (expected a map of images, keepImages, logs, "));
}

TEST(GcSettings, AllFaultsAreReportedAtOnceEachWithItsKey) {
    const auto config = load(
        "evictd:\n"
        "  gc:\n"
        "    images: all\n"
        "    keepImages: ['', 'a b', \"a\\nb\", " +
            std::string(513, 'x') +
            "]\n"
            "    logs: on\n"
            "    routine: auto\n"
            "    deadline: 1ms\n"
            "    orphans: on\n"
            "    orphanQuarantine: 59s\n"
            "    orphan: on\n",
        "f.yaml");
    ASSERT_FALSE(config);
    std::string all;
    for (const auto& fault : config.error()) all += fault.text() + "\n";
    EXPECT_THAT(all, HasSubstr("f.yaml:3: evictd.gc.images: invalid value \"all\" (expected unused or enough)"));
    EXPECT_THAT(all, HasSubstr("f.yaml:4: evictd.gc.keepImages[0]: \"\" is no pattern for names of images"));
    EXPECT_THAT(all, HasSubstr("evictd.gc.keepImages[1]: \"a b\" is no pattern"));
    EXPECT_THAT(all, HasSubstr("evictd.gc.keepImages[2]: "));
    EXPECT_THAT(all, HasSubstr("evictd.gc.keepImages[3]: "));
    EXPECT_THAT(all, HasSubstr("f.yaml:5: evictd.gc.logs: invalid value \"on\" (expected off or truncateRotated)"));
    EXPECT_THAT(all, HasSubstr("f.yaml:6: evictd.gc.routine: invalid value \"auto\" (expected off or on)"));
    EXPECT_THAT(all, HasSubstr("f.yaml:7: evictd.gc.deadline: out of range: 1ms (1s to 10m)"));
    EXPECT_THAT(all, HasSubstr("f.yaml:8: evictd.gc.orphans: invalid value \"on\" (expected off, report or remove)"));
    EXPECT_THAT(all, HasSubstr("f.yaml:9: evictd.gc.orphanQuarantine: out of range: 59s (1m to 24h)"));
    EXPECT_THAT(all, HasSubstr("f.yaml:10: evictd.gc.orphan: unknown key"));
}

TEST(GcSettings, ThereIsAnEndToPatterns) {
    std::string list = "[a";
    for (int i = 0; i < 256; ++i) list += ", a";
    const auto config = load("evictd: {gc: {keepImages: " + list + "]}}", "f.yaml");
    ASSERT_FALSE(config);
    EXPECT_THAT(config.error().front().text(), HasSubstr("more than 256 patterns"));
    EXPECT_FALSE(load("evictd: {gc: {keepImages: a}}", "f.yaml"));
}

}  // namespace
}  // namespace evictd::config
