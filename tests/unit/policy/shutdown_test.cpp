// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whose word that the node shuts down counts, and for how long.
#include "shutdown.hpp"

#include <gmock/gmock.h>

#include "unit/policy/leaving.hpp"

namespace evictd::policy {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Shutdown, NoPodIsEvictedWhileTheNodeShutsDown) {
    Leaving node;
    node.keep_all_by_taint();
    node.set(90_MiB);
    node.logind = true;
    auto decision = node.look(0s);
    EXPECT_FALSE(decision.evict);
    EXPECT_THAT(decision.actions, IsEmpty());
    EXPECT_EQ(decision.shutdown, ShutdownWord::logind);
    EXPECT_THAT(decision.why, HasSubstr("; no pod is evicted; the node is shutting down (reported by logind)"));
    node.logind = false;
    EXPECT_EQ(evicted(node.look(1s)), "uid-big") << "it was cancelled";
}

// What the API server still shows of an earlier shutdown stops nothing while logind is heard.
TEST(Shutdown, LogindsNoCountsMoreThanTheKubeletsYes) {
    Leaving node;
    node.view.shutting_down = true;
    EXPECT_EQ(node.look(0s).shutdown, ShutdownWord::kubelet) << "logind has not answered yet";
    node.logind = false;
    EXPECT_EQ(node.look(1s).shutdown, ShutdownWord::none);
    node.logind_current = false;
    EXPECT_EQ(node.look(2s).shutdown, ShutdownWord::kubelet) << "logind is not heard any more";
}

TEST(Shutdown, LogindsWordIsOverAMinuteAfterItsLastAnswer) {
    for (const bool is_heard : {true, false}) {
        Leaving node;
        node.keep_all_by_taint();
        node.set(90_MiB);
        node.logind = true;
        node.logind_current = is_heard;
        node.logind_said = 0s;
        EXPECT_EQ(node.look(59s).shutdown, ShutdownWord::logind);
        EXPECT_EQ(evicted(node.look(60s)), "uid-big");
    }
}

TEST(Shutdown, TheKubeletsWordHoldsForTenMinutesAfterItsServerWasHeard) {
    Leaving node;
    node.keep_all_by_taint();
    node.set(90_MiB);
    node.view.shutting_down = true;
    node.heard = 0s;
    node.view.current = false;
    EXPECT_EQ(node.look(1s).shutdown, ShutdownWord::kubelet);
    EXPECT_FALSE(node.look(599s).evict);
    EXPECT_EQ(evicted(node.look(600s)), "uid-big");
}

TEST(Shutdown, NoPodIsShedOrOnTheLadder) {
    Leaving node;
    node.keep_all_by_taint();
    node.config.thresholds = {soft(1_GiB, 1h)};
    node.config.shed_sockets = true;
    node.find("big").usage->file = 100_MiB;
    node.find("middle").usage->file = 100_MiB;
    node.set(900_MiB);
    auto decision = node.look(0s);
    EXPECT_THAT(decision.shed, Not(IsEmpty()));
    EXPECT_THAT(decision.ladder, Not(IsEmpty()));
    node.logind = true;
    decision = node.look(1s);
    EXPECT_THAT(decision.shed, IsEmpty());
    EXPECT_THAT(decision.ladder, IsEmpty());
}

}  // namespace
}  // namespace evictd::policy
