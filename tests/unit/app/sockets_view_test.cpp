// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/sockets_view.hpp"

#include <gtest/gtest.h>

#include "evictd/model/record.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_sockets.hpp"

namespace evictd::app {
namespace {

using namespace std::chrono_literals;

class SocketsViews : public testing::Test {
protected:
    // How many passes a look after `since` began.
    int passes_after(Duration since, const Decision& decision = {}) {
        clock.advance(since);
        const int before = sockets.reads;
        Tick tick;
        tick.decision = decision;
        view.publish(std::make_shared<const Record>(std::move(tick)));
        return sockets.reads - before;
    }

    fakes::FakeClock clock;
    fakes::FakeSockets sockets;
    SocketsView view{sockets, clock};
};

TEST_F(SocketsViews, SocketsAreCountedOnceAMinuteAtRest) {
    EXPECT_EQ(passes_after(1h), 1);
    EXPECT_EQ(passes_after(10s), 0);
    EXPECT_EQ(passes_after(50s), 1);
}

TEST_F(SocketsViews, AndOnceASecondWhileAThresholdIsMetOrPendingOrAConditionHolds) {
    Decision met, pending, condition;
    met.thresholds_met.resize(1);
    pending.thresholds_pending.resize(1);
    condition.conditions = {Condition::memory_pressure};
    EXPECT_EQ(passes_after(1h), 1);
    for (const auto& decision : {met, pending, condition}) {
        EXPECT_EQ(passes_after(999ms, decision), 0);
        EXPECT_EQ(passes_after(1ms, decision), 1);
    }
}

TEST_F(SocketsViews, APassForAReaderPutsOffTheNext) {
    EXPECT_EQ(passes_after(1h), 1);
    clock.advance(50s);
    ASSERT_TRUE(view.read());
    EXPECT_EQ(sockets.reads, 2);
    EXPECT_EQ(passes_after(59s), 0);
    EXPECT_EQ(passes_after(1s), 1);
}

}  // namespace
}  // namespace evictd::app
