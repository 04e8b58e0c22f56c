// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/survey_rows.hpp"

#include <gtest/gtest.h>

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;

constexpr MonotonicTime start{1h};

TreePlace volume(const std::string& pod, const std::string& name) {
    return {{pod}, TreeKind::empty_dir, name, pod + "/volumes/kubernetes.io~empty-dir/" + name};
}
TreeKey key_of(const TreePlace& place) { return {place.pod, place.kind, place.path}; }
TreeUsage usage(Bytes used, MonotonicTime at) { return {.used = used, .inodes = 1, .began = at, .ended = at}; }

class SurveyRowsTest : public testing::Test {
protected:
    void measure(const TreePlace& place, Bytes used, MonotonicTime at, Duration cpu = 1ms) {
        rows.start(key_of(place), std::make_shared<Pulse>(), at);
        rows.take_result(key_of(place), usage(used, at), cpu, at);
    }
    [[nodiscard]] std::string next_name() const {
        const auto next = rows.next(budget);
        return next ? next->key->path.substr(next->key->path.rfind('/') + 1) : "";
    }
    SurveyRows rows;
    SurveyBudget budget;
};

TEST_F(SurveyRowsTest, BeforeTheFirstListingNothingIsKnown) {
    const auto survey = rows.survey(start, false);
    EXPECT_EQ(survey->listed, MonotonicTime{});
    EXPECT_EQ(survey->trouble, "not listed yet");
    EXPECT_FALSE(rows.next(budget));
}

TEST_F(SurveyRowsTest, ATreeThatWasNotMeasuredHasNoUsage) {
    rows.take_listing({{volume("b", "x"), volume("a", "y"), volume("a", "z")}}, start);
    const auto survey = rows.survey(start, false);
    ASSERT_EQ(survey->pods.size(), 2U);
    EXPECT_EQ(survey->pods[0].uid.value, "a");
    ASSERT_EQ(survey->pods[0].trees.size(), 2U);
    EXPECT_EQ(survey->pods[0].trees[0].usage, std::nullopt);
    EXPECT_EQ(survey->listed, start);
    EXPECT_EQ(survey->trouble, "");
}

TEST_F(SurveyRowsTest, WhatWasNeverMeasuredComesFirst) {
    rows.take_listing({{volume("a", "old"), volume("b", "new")}}, start);
    measure(volume("a", "old"), 1_MiB, start);
    EXPECT_EQ(next_name(), "new");
    EXPECT_LT(rows.next(budget)->due, start);
}

TEST_F(SurveyRowsTest, OneThatIsWalkedIsNotWalkedASecondTime) {
    rows.take_listing({{volume("a", "one")}}, start);
    rows.start(key_of(volume("a", "one")), std::make_shared<Pulse>(), start);
    EXPECT_FALSE(rows.next(budget));
}

TEST_F(SurveyRowsTest, OneThatGrowsComesBeforeOneThatDoesNot) {
    rows.take_listing({{volume("a", "idle"), volume("b", "grows")}}, start);
    for (const auto& place : {volume("a", "idle"), volume("b", "grows")}) measure(place, 1_MiB, start, 100ms);
    measure(volume("b", "grows"), 1_GiB, start + 10s, 100ms);
    measure(volume("a", "idle"), 1_MiB, start + 10s, 100ms);
    EXPECT_EQ(next_name(), "grows");
}

TEST_F(SurveyRowsTest, OneThatIsWantedComesAtOnceAndOnce) {
    rows.take_listing({{volume("a", "one"), volume("b", "two")}}, start);
    measure(volume("a", "one"), 1_MiB, start);
    measure(volume("b", "two"), 1_MiB, start);
    rows.want({"b"});
    EXPECT_EQ(next_name(), "two");
    EXPECT_TRUE(rows.at(key_of(volume("b", "two"))).is_wanted);
    measure(volume("b", "two"), 1_MiB, start + 1s);
    EXPECT_GT(rows.next(budget)->due, start + 1s);
}

TEST_F(SurveyRowsTest, OneThatIsWantedWhileItIsWalkedIsWalkedAgain) {
    const auto place = volume("a", "one");
    rows.take_listing({{place}}, start);
    rows.start(key_of(place), std::make_shared<Pulse>(), start);
    rows.want({"a"});
    rows.take_result(key_of(place), usage(1_MiB, start), 1ms, start);
    EXPECT_LT(rows.next(budget)->due, start);
}

TEST_F(SurveyRowsTest, AnErrorKeepsTheLastFigureWithItsAge) {
    const auto place = volume("a", "one");
    rows.take_listing({{place}}, start);
    measure(place, 1_MiB, start);
    rows.start(key_of(place), std::make_shared<Pulse>(), start + 20s);
    rows.take_result(key_of(place), fail(ErrorKind::not_permitted, "one", "Permission denied"), 1ms, start + 20s);
    const auto survey = rows.survey(start + 20s, false);
    const auto& tree = survey->pods[0].trees[0];
    EXPECT_EQ(tree.usage->used, 1_MiB);
    EXPECT_EQ(tree.usage->ended, start);
    EXPECT_EQ(tree.trouble, "one: Permission denied");
    EXPECT_EQ(rows.next(budget)->due, start + 20s + budget.shortest);
}

TEST_F(SurveyRowsTest, OnlyAWholeListingForgetsTrees) {
    const auto gone = volume("a", "gone");
    rows.take_listing({{gone, volume("b", "kept")}}, start);
    const auto pulse = std::make_shared<Pulse>();
    rows.start(key_of(gone), pulse, start);
    rows.take_listing({{volume("b", "kept")}, "pods: Input/output error"}, start + 10s);
    auto survey = rows.survey(start + 10s, false);
    EXPECT_EQ(survey->pods.size(), 2U);
    EXPECT_EQ(survey->listed, start);
    EXPECT_EQ(survey->trouble, "pods: Input/output error");
    EXPECT_FALSE(pulse->is_cancelled());
    rows.take_listing({{volume("b", "kept")}}, start + 20s);
    survey = rows.survey(start + 20s, false);
    EXPECT_EQ(survey->pods.size(), 1U);
    EXPECT_EQ(survey->listed, start + 20s);
    EXPECT_TRUE(pulse->is_cancelled());
    rows.take_result(key_of(gone), usage(1_MiB, start), 1ms, start + 21s);  // too late
    EXPECT_EQ(rows.survey(start + 21s, false)->pods.size(), 1U);
}

// Six trees without an end, and fewer threads.
TEST_F(SurveyRowsTest, OfTreesThatWereCutOffOneAtATimeIsWalked) {
    TreeListing listing;
    for (int i = 0; i < 6; ++i) listing.trees.push_back(volume("endless-" + std::to_string(i), std::to_string(i)));
    const auto endless = listing.trees;
    listing.trees.push_back(volume("z", "other"));
    rows.take_listing(std::move(listing), start);
    for (const auto& place : endless) {
        rows.start(key_of(place), std::make_shared<Pulse>(), start);
        rows.take_result(key_of(place), usage(1_MiB, start), 1s, start, true);
        rows.want(place.pod);
    }
    measure(volume("z", "other"), 1_MiB, start + 1s);
    ASSERT_EQ(next_name(), "0");
    rows.start(key_of(endless[0]), std::make_shared<Pulse>(), start + 2s);
    EXPECT_EQ(next_name(), "other") << "though it is due later than all of them";
    rows.take_result(key_of(endless[0]), usage(1_MiB, start), 1s, start + 3s, true);
    EXPECT_EQ(next_name(), "1") << "it waits its turn";
}

TEST_F(SurveyRowsTest, OneThatWasCutOffMayTakeLongerNextTime) {
    const auto place = volume("a", "large");
    rows.take_listing({{place}}, start);
    for (const int times : {1, 2, 4, 8, 8}) {
        EXPECT_EQ(longest_walk_of(rows.at(key_of(place)), 2min), times * 2min);
        rows.start(key_of(place), std::make_shared<Pulse>(), start);
        rows.take_result(key_of(place), usage(1_MiB, start), 1s, start, true);
    }
    measure(place, 1_MiB, start);
    EXPECT_EQ(longest_walk_of(rows.at(key_of(place)), 2min), 2min);
}

TEST_F(SurveyRowsTest, ThreadsThatHangAreCountedAndSaidWhenNoneIsLeft) {
    rows.take_listing({{volume("a", "one")}}, start);
    EXPECT_EQ(rows.survey(start, false, {2, false})->hanging, 2U);
    EXPECT_EQ(rows.survey(start, false, {2, false})->trouble, "") << "the others are measured";
    EXPECT_EQ(rows.survey(start, false, {6, true})->trouble, "no longer measured: all 6 threads are blocked on a disk");
}

TEST_F(SurveyRowsTest, AListingThatHangsIsSaid) {
    EXPECT_EQ(rows.survey(start, true)->trouble, "the directories of pods cannot be listed: a disk does not answer");
}

}  // namespace
}  // namespace evictd::disk
