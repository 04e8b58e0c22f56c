// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// When another pod is raised in the place of one: a few times at once, then once a second, but never late where the one
// before is gone.
#include <algorithm>
#include <memory>

#include "unit/reconcile/score_fixture.hpp"

namespace evictd::reconcile {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class Steering : public Keeper {
protected:
    void SetUp() override {
        scores.processes = {{{1}, {{.pid = 10, .score = wanted}}},
                            {{2}, {{.pid = 20, .score = wanted}}},
                            {{3}, {{.pid = 30, .score = wanted}}}};
        make();
        keeper->look({a, b, c}, 1_GiB);
        for (const auto* kept : {&b, &c, &b, &a}) {
            keeper->steer(kept->pod->uid);
            EXPECT_THAT(raised(), ElementsAre(kept->pod->name)) << "these are raised at once";
        }
        scores.log.clear();
        clock.advance(milliseconds(100));
    }
    [[nodiscard]] std::vector<std::string> raised() {
        std::vector<std::string> names;
        const char* const all[] = {"a", "b", "c"};
        for (std::uint64_t i = 1; i <= 3; i++) {
            if (const auto found = scores.processes.find({i}); found != scores.processes.end()) {
                if (found->second.front().score == 1000) names.emplace_back(all[i - 1]);
            }
        }
        return names;
    }
    void pass_until_due() {
        ASSERT_TRUE(keeper->due());
        clock.set(*keeper->due());
        keeper->act_on_time();
    }
    KeptPod c = pod("c", 3);
};

TEST_F(Steering, AnotherIsRaisedWhenTheSecondOfTheOneBeforeIsOver) {
    keeper->steer(b.pod->uid);
    EXPECT_THAT(raised(), ElementsAre("a"));
    EXPECT_EQ(keeper->due(), clock.monotonic() + milliseconds(900));
    pass(milliseconds(899));
    EXPECT_THAT(raised(), ElementsAre("a"));
    pass_until_due();
    EXPECT_THAT(raised(), ElementsAre("b"));
    clock.advance(milliseconds(1000));
    keeper->steer(c.pod->uid);
    EXPECT_THAT(raised(), ElementsAre("c")) << "at once, a second after";
}

TEST_F(Steering, WhatIsDesiredLastCounts) {
    keeper->steer(b.pod->uid);
    keeper->steer(c.pod->uid);
    pass(milliseconds(900));
    EXPECT_THAT(raised(), ElementsAre("c"));
    EXPECT_EQ(std::count(scores.log.begin(), scores.log.end(), "20=1000"), 0);
    keeper->steer(b.pod->uid);
    keeper->steer(c.pod->uid);
    pass(seconds(2));
    EXPECT_THAT(raised(), ElementsAre("c")) << "none waits, where the raised one is the first again";
}

TEST_F(Steering, WhereMemoryIsNotShortAnyMoreTheNextIsNotRaised) {
    keeper->steer(b.pod->uid);
    clock.advance(milliseconds(100));
    keeper->steer(std::nullopt);
    pass(milliseconds(999));
    EXPECT_THAT(raised(), ElementsAre("a")) << "as long as it would be without the other one";
    pass(milliseconds(1));
    EXPECT_THAT(raised(), IsEmpty());
    EXPECT_EQ(scores.at(2).score, wanted);
    keeper->steer(b.pod->uid);
    EXPECT_THAT(raised(), ElementsAre("b")) << "the first again, so at once";
}

TEST_F(Steering, AShortPauseDoesNotMakeTheNextOneTheFirst) {
    keeper->steer(std::nullopt);
    clock.advance(milliseconds(100));
    keeper->steer(b.pod->uid);
    EXPECT_THAT(raised(), ElementsAre("a"));
    pass(milliseconds(800));
    EXPECT_THAT(raised(), ElementsAre("b"));
}

TEST_F(Steering, AnotherLookDoesNotPutItOff) {
    const DesiredScores desired{.pods = std::make_shared<const KeptPods>(KeptPods{{a, b, c}, 1_GiB}),
                                .steer_to = b.pod->uid};
    keeper->reconcile(desired);
    for (int i = 0; i < 8; i++) {
        clock.advance(milliseconds(100));
        keeper->reconcile(desired);
        keeper->check(a.pod->uid);
    }
    EXPECT_THAT(raised(), ElementsAre("a"));
    pass(milliseconds(100));
    EXPECT_THAT(raised(), ElementsAre("b"));
}

TEST_F(Steering, NoneWaitsForAPodThatIsGone) {
    const auto cgroup_of = [](const KeptPod& kept) {
        return std::const_pointer_cast<fakes::FakePodCgroup>(
            std::dynamic_pointer_cast<const fakes::FakePodCgroup>(kept.cgroup));
    };
    cgroup_of(a)->is_populated = false;  // evicted
    scores.processes[{1}].clear();
    keeper->steer(b.pod->uid);
    EXPECT_EQ(scores.at(2).score, 1000);
    clock.advance(milliseconds(100));
    scores.processes.erase({2});
    cgroup_of(b)->counted_tasks = fail(ErrorKind::vanished, "/kubepods/podb", "removed");
    keeper->steer(c.pod->uid);
    EXPECT_EQ(scores.at(3).score, 1000);
}

TEST_F(Steering, NorForOneThatIsNotKnown) {
    clock.advance(milliseconds(900));
    keeper->steer(PodUid{"uid-unknown"});
    keeper->steer(b.pod->uid);
    EXPECT_THAT(raised(), ElementsAre("b"));
}

TEST_F(Steering, WhenTheAgentEndsTheNextIsNotRaised) {
    keeper->steer(b.pod->uid);
    keeper->release();
    pass(seconds(2));
    EXPECT_THAT(raised(), IsEmpty());
    EXPECT_EQ(std::count(scores.log.begin(), scores.log.end(), "20=1000"), 0);
}

}  // namespace
}  // namespace evictd::reconcile
