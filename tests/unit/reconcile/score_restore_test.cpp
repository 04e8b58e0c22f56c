// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Raised pods that go out of sight, and putting back that fails: nothing is forgotten before it is put back or gone.
#include <chrono>
#include <filesystem>

#include "unit/reconcile/score_fixture.hpp"

namespace evictd::reconcile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

const Error short_of_descriptors{ErrorKind::failed, "/proc/10", "Too many open files", {}};

class Restore : public Keeper {
protected:
    void raise_a(OomScoreAdjPolicy policy = OomScoreAdjPolicy::off) {
        scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
        make({.policy = policy});
        look();
        keeper->steer(a.pod->uid);
        ASSERT_EQ(scores.at(1).score, 1000);
    }
    [[nodiscard]] bool remembered() const { return std::filesystem::exists(memory); }
};

TEST_F(Restore, APodThatIsNotListedAnyMoreIsPutBack) {
    for (const auto policy : {OomScoreAdjPolicy::enforce, OomScoreAdjPolicy::off}) {
        raise_a(policy);
        keeper->reconcile({.pods = std::make_shared<const KeptPods>(KeptPods{{b}, 1_GiB}), .steer_to = {}});
        EXPECT_TRUE(remembered());
        keeper->steer(std::nullopt);
        pass(milliseconds(1100));
        EXPECT_EQ(scores.at(1).score, policy == OomScoreAdjPolicy::off ? 700 : wanted);
        EXPECT_FALSE(remembered());
        keeper->look({b}, 1_GiB);
        const auto rounds = scores.rounds;
        keeper->check(a.pod->uid);
        EXPECT_EQ(scores.rounds, rounds) << "and then it is not looked at any more";
    }
}

TEST_F(Restore, APodThatIsNotListedWhenTheAgentEndsIsPutBack) {
    raise_a();
    keeper->look({b}, 1_GiB);
    keeper->release();
    EXPECT_EQ(scores.at(1).score, 700);
    EXPECT_FALSE(remembered());
}

TEST_F(Restore, WhatWasRaisedInAPodsCgroupBeforeIsPutBackBeforeItsNewOneIsKept) {
    raise_a(OomScoreAdjPolicy::enforce);
    scores.processes[{3}] = {{.pid = 30, .score = 0}};
    scores.list_error = short_of_descriptors;
    keeper->look({pod("a", 3), b}, 1_GiB);
    EXPECT_EQ(scores.at(1).score, 1000);
    EXPECT_TRUE(remembered());
    scores.list_error.reset();
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(1).score, wanted);
    keeper->steer(std::nullopt);
    pass(seconds(2));
    for (int i = 0; i < 2; i++) {
        keeper->look({pod("a", 3), b}, 1_GiB);
        pass(milliseconds(2100));
    }
    EXPECT_EQ(scores.at(3).score, wanted);
    EXPECT_FALSE(remembered());
}

TEST_F(Restore, WhatCouldNotBeRecoveredWaitsForItsPod) {
    raise_a();
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(fail(ErrorKind::failed, "pods' cgroup", "Too many open files"));
    keeper->look({}, 1_GiB);
    keeper->look({b}, 1_GiB);
    keeper->look({b, pod("a", 3)}, 1_GiB);
    EXPECT_TRUE(remembered());
    EXPECT_EQ(scores.at(1).score, 1000);
    keeper->look({a, b}, 1_GiB);
    pass(milliseconds(2100));
    EXPECT_EQ(scores.at(1).score, 700);
    EXPECT_FALSE(remembered());
}

TEST_F(Restore, AListingThatFailsIsTriedAgainWhateverThePolicy) {
    for (const auto policy : {OomScoreAdjPolicy::enforce, OomScoreAdjPolicy::off}) {
        raise_a(policy);
        keeper->steer(std::nullopt);
        scores.list_error = short_of_descriptors;
        for (int i = 0; i < 5; i++) pass(milliseconds(1100));
        EXPECT_EQ(scores.at(1).score, 1000);
        EXPECT_EQ(count("its processes could not be listed"), 1U);
        scores.list_error.reset();
        pass(milliseconds(1100));
        EXPECT_EQ(scores.at(1).score, policy == OomScoreAdjPolicy::off ? 700 : wanted);
        EXPECT_FALSE(remembered());
        told.clear();
    }
}

TEST_F(Restore, AProcessThatCannotBeLookedAtIsTriedAgain) {
    for (auto* error : {&scores.visit_error, &scores.score_error}) {
        raise_a();
        keeper->steer(std::nullopt);
        *error = short_of_descriptors;
        for (int i = 0; i < 5; i++) pass(milliseconds(1100));
        EXPECT_TRUE(remembered());
        EXPECT_EQ(count("not all of it could be put back: /proc/10: Too many open files"), 1U);
        error->reset();
        pass(milliseconds(1100));
        EXPECT_EQ(scores.at(1).score, 700);
        EXPECT_FALSE(remembered());
        told.clear();
    }
}

TEST_F(Restore, WhatTheNextAgentCannotLookAtStaysInTheLedger) {
    const std::vector<port::FoundPod> found{{a.pod->uid, a.cgroup}};
    for (auto* error : {&scores.visit_error, &scores.score_error}) {
        raise_a();
        make({.policy = OomScoreAdjPolicy::off});
        *error = short_of_descriptors;
        keeper->recover(found);
        EXPECT_TRUE(remembered());
        error->reset();
        look();
        EXPECT_EQ(scores.at(1).score, 700);
        EXPECT_FALSE(remembered());
    }
}

TEST_F(Restore, AProcessWhoseStartTimeCannotBeReadIsNotMistakenForAnother) {
    raise_a();
    keeper->steer(std::nullopt);
    scores.at(1).started = 0;
    scores.processes[{1}].push_back({.pid = 11, .score = 0, .started = 0});
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(1).score, 1000);
    scores.at(1).started = 1;
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(1).score, 700);
}

TEST_F(Restore, ALedgerThatIsNotUnderstoodIsSetAsideBeforeAnythingIsRaised) {
    directory.write("state/raised_scores", "garbage");
    scores.processes = {{{1}, {{.pid = 10, .score = 700}}}, {{2}, {}}};
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(std::vector<port::FoundPod>{});
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0].error, HasSubstr("raised_scores.broken"));
    EXPECT_TRUE(std::filesystem::exists(memory + ".broken"));
    look();
    keeper->steer(a.pod->uid);
    EXPECT_EQ(scores.at(1).score, 1000);
    EXPECT_TRUE(std::filesystem::exists(memory + ".broken"));
}

TEST_F(Restore, NothingIsRaisedBeforeTheLedgerCouldBeRead) {
    raise_a();
    scores.processes[{2}] = {{.pid = 20, .score = 300}};
    std::filesystem::rename(directory / "state", directory / "real");
    directory.write("state", "no directory");
    make({.policy = OomScoreAdjPolicy::off});
    keeper->recover(std::vector<port::FoundPod>{{a.pod->uid, a.cgroup}});
    look();
    keeper->steer(b.pod->uid);
    EXPECT_EQ(scores.at(2).score, 300);
    EXPECT_NE(keeper->figures().not_raised, "");
    std::filesystem::remove(directory / "state");
    std::filesystem::rename(directory / "real", directory / "state");
    pass(milliseconds(1100));
    EXPECT_EQ(scores.at(2).score, 1000);
    look();
    EXPECT_EQ(scores.at(1).score, 700) << "what the killed agent left";
    keeper->release();
    EXPECT_EQ(scores.at(2).score, 300);
    EXPECT_FALSE(remembered());
}

}  // namespace
}  // namespace evictd::reconcile
