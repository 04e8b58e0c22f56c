// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "gc_report.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace evictd::codec {
namespace {

using testing::HasSubstr;
using testing::Not;

const TextStyle uncoloured{.color = false, .unicode = true};

Garbage object(GarbageKind kind, const std::string& id, std::optional<Bytes> size) {
    return {kind, id, "name-of-" + id, {kind == GarbageKind::image ? "" : "uid-1"}, size, "unused"};
}

GcReport planned_gc() {
    GcReport report;
    report.runtime = "containerd 1.6.20";
    report.endpoint = "/run/containerd/containerd.sock";
    report.pods = {"2 pods in /etc/kubernetes/manifests"};
    report.goes = {object(GarbageKind::container, "c1", std::nullopt), object(GarbageKind::image, "i1", 2_MiB),
                   object(GarbageKind::image, "i2", 3_MiB)};
    report.stays = {object(GarbageKind::sandbox, "s1", std::nullopt)};
    return report;
}

GcReport done_gc() {
    auto report = planned_gc();
    report.done.emplace();
    report.done->removals = {{GarbageKind::container, "c1", GarbageStatus::removed, ""},
                             {GarbageKind::image, "i1", GarbageStatus::in_use, "container app uses it"},
                             {GarbageKind::image, "i2", GarbageStatus::removed, ""}};
    report.done->freed = 1_MiB;
    return report;
}

TEST(GcReport, SaysWhatGoesAndWhatStays) {
    const auto text = gc_plan_text(planned_gc(), uncoloured);
    EXPECT_THAT(text, HasSubstr("RUNTIME   containerd 1.6.20, /run/containerd/containerd.sock\n"));
    EXPECT_THAT(text, HasSubstr("REMOVE    1 container and 2 images, 5Mi\n"));
    EXPECT_THAT(text, HasSubstr("KEEP      1 sandbox\n"));
    EXPECT_THAT(text, Not(HasSubstr("MISSING")));
    auto empty = planned_gc();
    empty.goes.clear();
    empty.missing = 4_MiB;
    EXPECT_THAT(gc_plan_text(empty, uncoloured), HasSubstr("REMOVE    nothing\n"));
    EXPECT_THAT(gc_plan_text(empty, uncoloured), HasSubstr("TO FREE   4Mi until"));
}

TEST(GcReport, SaysWhatCameOfIt) {
    const auto report = done_gc();
    const auto text = gc_summary_text(report, uncoloured);
    EXPECT_THAT(text, HasSubstr("REMOVED   1 container and 1 image, 3Mi; 1Mi freed\n"));
    EXPECT_THAT(text, HasSubstr("IN USE    1 image, 2Mi\n"));
    EXPECT_THAT(text, HasSubstr("container app uses it"));
    EXPECT_THAT(text, Not(HasSubstr("not removed")));
    EXPECT_TRUE(report.fine()) << "in use again is as it should be";
    auto unmeasured = done_gc();
    unmeasured.done->freed.reset();
    EXPECT_THAT(gc_summary_text(unmeasured, uncoloured), HasSubstr("could not be measured"));
}

TEST(GcReport, WhatWentWrongIsNotFine) {
    for (const auto status : {GarbageStatus::refused, GarbageStatus::failed}) {
        auto report = done_gc();
        report.done->removals[1] = {GarbageKind::image, "i1", status, "no"};
        EXPECT_FALSE(report.fine());
        EXPECT_THAT(gc_summary_text(report, uncoloured), HasSubstr("no"));
    }
    auto interrupted = done_gc();
    interrupted.done->removals.pop_back();
    interrupted.done->interrupted = true;
    EXPECT_FALSE(interrupted.fine());
    EXPECT_THAT(gc_summary_text(interrupted, uncoloured), HasSubstr("LEFT      1 of 3 not removed\n"));
    auto troubled = planned_gc();
    troubled.troubles = {"no list"};
    EXPECT_FALSE(troubled.fine());
    EXPECT_TRUE(planned_gc().fine());
}

TEST(GcReport, ADryRunSaysSo) {
    auto report = planned_gc();
    report.dry_run = true;
    EXPECT_EQ(gc_summary_text(report, uncoloured), "\ndry run: nothing was removed\n");
}

TEST(GcReport, IsJson) {
    const auto json = nlohmann::json::parse(gc_json(done_gc()));
    EXPECT_EQ(json["v"], 1);
    EXPECT_EQ(json["goes"][1]["kind"], "image");
    EXPECT_EQ(json["goes"][1]["size_bytes"], 2 << 20);
    EXPECT_FALSE(json["goes"][0].contains("size_bytes")) << "not known";
    EXPECT_FALSE(json["goes"][1].contains("pod"));
    EXPECT_EQ(json["goes_bytes"], 5 << 20);
    EXPECT_EQ(json["done"]["removals"][1]["status"], "in_use");
    EXPECT_EQ(json["done"]["removals"][1]["name"], "name-of-i1");
    EXPECT_EQ(json["done"]["freed_bytes"], 1 << 20);
    EXPECT_FALSE(nlohmann::json::parse(gc_json(planned_gc())).contains("done"));
}

// A pod's labels are whatever its creator wrote.
TEST(GcReport, ForeignTextDoesNotReachTheTerminalAndIsValidJson) {
    auto report = done_gc();
    report.goes[0].name = "a\x1b[2Jb\xff\n";
    report.goes[0].why = "\x1b]0;x\x07";
    report.done->removals[0] = {GarbageKind::container, "c1", GarbageStatus::failed, "e\x1b[31m"};
    for (const auto& text :
         {gc_plan_text(report, uncoloured), gc_summary_text(report, uncoloured),
          gc_step_text(report.goes[0], report.done->removals[0]), gc_progress_text(1, 3, report.goes[0], uncoloured)}) {
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    }
    EXPECT_FALSE(nlohmann::json::parse(gc_json(report), nullptr, false).is_discarded());
}

TEST(GcReport, AStepIsALine) {
    const auto report = done_gc();
    EXPECT_EQ(gc_step_text(report.goes[2], report.done->removals[2]), "removed image name-of-i2, 3Mi\n");
    EXPECT_EQ(gc_step_text(report.goes[1], report.done->removals[1]),
              "in use image name-of-i1: container app uses it\n");
}

TEST(GcReport, TheBarFitsItsTerminal) {
    auto report = planned_gc();
    report.goes[0].name = std::string(300, 'x');
    for (const int columns : {0, 10, 40, 80, 200}) {
        const TextStyle style{.color = false, .unicode = true, .columns = columns};
        for (const std::size_t done : {0U, 1U, 3U}) {
            const auto bar = gc_progress_text(done, 3, report.goes[0], style);
            EXPECT_TRUE(columns < 40 || width_of(bar) < static_cast<std::size_t>(columns)) << columns;
        }
    }
}

}  // namespace
}  // namespace evictd::codec
