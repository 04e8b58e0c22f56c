// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/reclaimer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_pod_controls.hpp"

namespace evictd::reconcile {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

struct Reclaiming : testing::Test {
    Reclaiming() {
        clock.set(MonotonicTime{1h});
        controls.pods[{7}] = {.usage = 500_MiB, .cache = 300_MiB};
        controls.on_write = [this](const std::string&) { clock.advance(5ms); };
    }
    [[nodiscard]] WantedRung wanted(Bytes bytes, Duration period = 1s) const {
        return {{RungKind::reclaim, {"uid-web"}, "default/web", {7}, bytes, clock.monotonic() + period}, cgroup};
    }
    int steps() {
        int count = 0;
        for (; reclaimer.due(); ++count) reclaimer.act_on_time();
        return count;
    }

    fakes::FakeClock clock;
    fakes::FakePodControls controls;
    port::PodCgroupPtr cgroup = std::make_shared<fakes::FakePodCgroup>(CgroupId{7}, "/kubepods/poduid-web");
    std::vector<RungOutcome> told;
    Reclaimer reclaimer{controls, clock, false, [this](RungOutcome outcome) { told.push_back(std::move(outcome)); }};
};

TEST_F(Reclaiming, TakesAPieceAtATimeAndNoMoreThanWasAskedFor) {
    const auto rung = wanted(40_MiB);
    reclaimer.reconcile({rung});
    EXPECT_EQ(steps(), 3);
    EXPECT_THAT(controls.log, ElementsAre("reclaim=16777216", "reclaim=16777216", "reclaim=8388608"));
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].status, RungStatus::begun);
    EXPECT_EQ(told[1].status, RungStatus::ended);
    EXPECT_EQ(told[1].bytes, 40_MiB);
    EXPECT_EQ(told[1].took, 15ms);
    reclaimer.reconcile({rung});
    EXPECT_EQ(steps(), 0) << "said once more, it does not begin again";
}

TEST_F(Reclaiming, StopsWhereThereIsHardlyAnything) {
    controls.pods.at({7}).cache = 20_MiB;
    reclaimer.reconcile({wanted(100_MiB)});
    EXPECT_EQ(steps(), 3);
    EXPECT_EQ(told.back().bytes, 20_MiB);
    EXPECT_FALSE(told.back().cut_short);
}

TEST_F(Reclaiming, StopsWhenItIsNotWantedAnyMore) {
    reclaimer.reconcile({wanted(100_MiB)});
    EXPECT_TRUE(reclaimer.due());
    reclaimer.act_on_time();
    reclaimer.reconcile({});
    EXPECT_FALSE(reclaimer.due());
    EXPECT_EQ(told.back().bytes, 16_MiB);
    EXPECT_TRUE(told.back().cut_short);
}

TEST_F(Reclaiming, StopsWhenItsTimeIsOver) {
    reclaimer.reconcile({wanted(300_MiB, 12ms)});
    EXPECT_EQ(steps(), 3);
    EXPECT_EQ(told.back().bytes, 48_MiB);
}

TEST_F(Reclaiming, ReportsFailuresAndForgetsRemovedPods) {
    controls.broken = "reclaim";
    reclaimer.reconcile({wanted(100_MiB)});
    EXPECT_EQ(steps(), 1);
    EXPECT_EQ(told.back().status, RungStatus::failed);
    EXPECT_EQ(told.back().error, "reclaim: it is broken");
    controls.pods.clear();
    reclaimer.reconcile({wanted(50_MiB)});
    EXPECT_EQ(steps(), 1);
    EXPECT_EQ(told.back().status, RungStatus::ended);
}

TEST_F(Reclaiming, ADryRunTouchesNothing) {
    Reclaimer dry(controls, clock, true, [this](RungOutcome outcome) { told.push_back(std::move(outcome)); });
    dry.reconcile({wanted(100_MiB)});
    EXPECT_FALSE(dry.due());
    EXPECT_THAT(controls.log, IsEmpty());
    ASSERT_EQ(told.size(), 2U);
    EXPECT_TRUE(told[1].dry_run);
}

}  // namespace
}  // namespace evictd::reconcile
