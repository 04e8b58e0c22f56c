// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd undo` makes of the scores that a killed agent left raised. That the next agent puts them back:
// score_keeper_test.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_scores.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/steered_scores.hpp"

namespace evictd::reconcile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct PutBackRaised : testing::Test {
    PutBackRaised() {
        cgroups.declare({{.id = 1, .level = 1}, {.id = 7, .level = 2, .pod = "a"}, {.id = 8, .level = 2, .pod = "b"}});
        scores.processes = {{{7}, {{.pid = 10, .score = 1000}, {.pid = 11, .score = 555}}},
                            {{8}, {{.pid = 20, .score = 1000}}}};
        const RaisedPods raised{{{"a"}, {{7}, {{10, 1, 700}, {11, 1, 600}}}}, {{"b"}, {{8}, {{20, 1, 300}}}}};
        EXPECT_TRUE(remember_raised(ledger, raised));
    }
    PutBack put_back() { return put_back_raised(scores, cgroups, ledger); }
    [[nodiscard]] std::vector<std::string> remembered() const {
        std::vector<std::string> pods;
        for (const auto& [uid, pod] : remembered_raised(ledger).value_or(RaisedPods{})) pods.push_back(uid.value);
        return pods;
    }

    fakes::TempDir directory;
    std::string ledger = directory / "state/raised_scores";
    fakes::FakeCgroupTree cgroups;
    fakes::FakeScores scores;
};

TEST_F(PutBackRaised, WhatStillHasWhatTheAgentGaveItHasWhatItHadBefore) {
    const auto result = put_back();
    EXPECT_THAT(result.done, ElementsAre("put back oom_score_adj of 1 process in /kubepods/poda",
                                         "put back oom_score_adj of 1 process in /kubepods/podb"));
    EXPECT_THAT(result.failed, IsEmpty());
    EXPECT_THAT(scores.log, ElementsAre("10=700", "20=300"));
    EXPECT_FALSE(std::filesystem::exists(ledger));
    EXPECT_TRUE(put_back().nothing());
}

TEST_F(PutBackRaised, APodThatIsNotListedIsGoneAndAnotherCgroupUnderItsUidIsNotIt) {
    cgroups.declare({{.id = 1, .level = 1}, {.id = 9, .level = 2, .pod = "a"}});
    scores.processes[{9}] = {{.pid = 10, .score = 1000}};
    EXPECT_TRUE(put_back().nothing());
    EXPECT_THAT(scores.log, IsEmpty());
    EXPECT_THAT(remembered(), IsEmpty());
}

TEST_F(PutBackRaised, WherePodsCannotBeListedNothingIsForgotten) {
    cgroups.unlisted = "Too many open files";
    EXPECT_EQ(put_back().failed.size(), 1U);
    EXPECT_THAT(remembered(), ElementsAre("a", "b"));
    cgroups.root_unknown = "Too many open files";
    EXPECT_EQ(put_back().failed.size(), 1U);
    EXPECT_THAT(remembered(), ElementsAre("a", "b"));
    cgroups.unlisted.clear();
    cgroups.root_unknown.clear();
    EXPECT_EQ(put_back().done.size(), 2U);
}

TEST_F(PutBackRaised, APodWhereItFailsStaysInTheLedger) {
    scores.at(7).lowest = 900;
    const auto result = put_back();
    ASSERT_EQ(result.failed.size(), 1U);
    EXPECT_THAT(result.failed[0].text(), HasSubstr("oom_score_adj in /kubepods/poda"));
    EXPECT_EQ(scores.at(8).score, 300);
    EXPECT_THAT(remembered(), ElementsAre("a"));
}

TEST_F(PutBackRaised, APodWithAProcessThatCannotBeLookedAtStaysInTheLedger) {
    for (auto* error : {&scores.visit_error, &scores.score_error}) {
        *error = Error{ErrorKind::failed, "/proc/10", "Too many open files", {}};
        EXPECT_EQ(put_back().failed.size(), 2U);
        EXPECT_THAT(remembered(), ElementsAre("a", "b"));
        error->reset();
    }
}

TEST_F(PutBackRaised, ABrokenLedgerIsSetAside) {
    directory.write("state/raised_scores", "garbage");
    const auto result = put_back();
    ASSERT_EQ(result.failed.size(), 1U);
    EXPECT_THAT(result.failed[0].remedy, HasSubstr("raised_scores.broken"));
    EXPECT_TRUE(std::filesystem::exists(ledger + ".broken"));
    EXPECT_THAT(scores.log, IsEmpty());
}

}  // namespace
}  // namespace evictd::reconcile
