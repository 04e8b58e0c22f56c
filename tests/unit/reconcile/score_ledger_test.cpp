// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Scores whose originals cannot be written down, so that they must not be raised.
#include <chrono>
#include <filesystem>

#include "unit/reconcile/score_fixture.hpp"

namespace evictd::reconcile {
namespace {

using std::chrono::milliseconds;

using Ledger = Keeper;

// As on a full disk. It must not be left below its class: the OOM killer would then prefer all others.
TEST_F(Ledger, AFirstVictimThatCannotBeRaisedHasAtLeastTheScoreOfItsClass) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}, {.pid = 11, .score = 1000}}}, {{2}, {}}};
    directory.write("state", "no directory");
    make();
    keeper->steer(a.pod->uid);
    look();
    EXPECT_EQ(scores.at(1, 0).score, wanted);
    EXPECT_EQ(scores.at(1, 1).score, wanted);
    EXPECT_EQ(keeper->figures().steered, "");
    EXPECT_EQ(keeper->figures().not_raised.substr(0, 25), "default/a is not raised: ");
    EXPECT_EQ(count("Not raising oom_score_adj of pod default/a: could not save"), 1U);
    std::filesystem::remove(directory / "state");
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(1, 0).score, 1000);
    EXPECT_EQ(keeper->figures().steered, "default/a");
    EXPECT_EQ(keeper->figures().not_raised, "");
    keeper->release();
    EXPECT_EQ(scores.at(1, 0).score, wanted);
}

TEST_F(Ledger, WhereClassesAreNotEnforcedAPodThatCannotBeRaisedStaysAsItIs) {
    scores.processes = {{{1}, {{.pid = 10, .score = 0}}}, {{2}, {}}};
    directory.write("state", "no directory");
    make({.policy = OomScoreAdjPolicy::off});
    look();
    keeper->steer(a.pod->uid);
    EXPECT_EQ(scores.at(1).score, 0);
    EXPECT_NE(keeper->figures().not_raised, "");
}

// The disk is full later than that: what is raised already stays so, the newcomer gets what its class says.
TEST_F(Ledger, WhatWasRaisedBeforeTheLedgerFailedStaysRaised) {
    scores.processes = {{{1}, {{.pid = 10, .score = wanted}}}, {{2}, {}}};
    make();
    look();
    keeper->steer(a.pod->uid);
    std::filesystem::remove_all(directory / "state");
    directory.write("state", "no directory");
    scores.processes[{1}].push_back({.pid = 11, .score = 0});
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(1, 0).score, 1000);
    EXPECT_EQ(scores.at(1, 1).score, wanted);
    EXPECT_EQ(keeper->figures().steered, "");
    EXPECT_NE(keeper->figures().not_raised, "");
}

}  // namespace
}  // namespace evictd::reconcile
