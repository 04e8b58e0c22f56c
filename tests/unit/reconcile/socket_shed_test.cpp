// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/socket_shed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_sockets.hpp"

namespace evictd::reconcile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ShedPod web{{"uid-web"}, "default/web", {7}};
const ShedPod db{{"uid-db"}, "default/db", {8}};

struct Shedding : testing::Test {
    fakes::FakeClock clock;
    fakes::FakeSockets sockets;
    SocketShed shed{clock, &sockets, false};
};

TEST_F(Shedding, ShedsTheDesiredPodsAndReportsItOnce) {
    const std::vector wanted{web};
    const auto edges = shed.reconcile(wanted);
    ASSERT_EQ(edges.size(), 1U);
    EXPECT_TRUE(edges[0].begun && edges[0].error.empty());
    EXPECT_EQ(edges[0].pod.pod_name, "default/web");
    EXPECT_THAT(sockets.refused_now, ElementsAre(CgroupId{7}));
    EXPECT_THAT(shed.reconcile(wanted), IsEmpty());
}

TEST_F(Shedding, IsRenewedAtEveryLookWithALaterEnd) {
    const std::vector wanted{web};
    (void)shed.reconcile(wanted);
    EXPECT_EQ(sockets.until, clock.monotonic() + SocketShed::refusal_holds);
    clock.advance(std::chrono::milliseconds(100));
    (void)shed.reconcile(wanted);
    EXPECT_EQ(sockets.until, clock.monotonic() + SocketShed::refusal_holds);
    EXPECT_EQ(sockets.asked, 2);
}

TEST_F(Shedding, APodNoLongerDesiredIsRestoredWithTheNumberRefused) {
    sockets.refusals[{7}] = 100;
    (void)shed.reconcile(std::vector{web});
    sockets.refusals[{7}] = 112;
    const auto edges = shed.reconcile(std::vector{db});
    ASSERT_EQ(edges.size(), 2U);
    EXPECT_FALSE(edges[0].begun);
    EXPECT_EQ(edges[0].pod.pod_name, "default/web");
    EXPECT_EQ(edges[0].refused, 12);
    EXPECT_EQ(edges[1].pod.pod_name, "default/db");
    EXPECT_THAT(sockets.refused_now, ElementsAre(CgroupId{8}));
    EXPECT_EQ(shed.reconcile({}).size(), 1U);
    EXPECT_THAT(sockets.refused_now, IsEmpty());
}

TEST_F(Shedding, NoDesiredPodCostsNothing) {
    EXPECT_THAT(shed.reconcile({}), IsEmpty());
    EXPECT_EQ(sockets.asked, 0);
}

TEST_F(Shedding, ADryRunReportsAndTouchesNothing) {
    SocketShed dry(clock, &sockets, true);
    const auto edges = dry.reconcile(std::vector{web});
    ASSERT_EQ(edges.size(), 1U);
    EXPECT_THAT(edges[0].error, IsEmpty());
    EXPECT_EQ(dry.reconcile({}).size(), 1U);
    EXPECT_EQ(sockets.asked, 0);
}

TEST_F(Shedding, AnUnsupportedHostIsReportedOnceAndNothingIsUndone) {
    SocketShed unable(clock, nullptr, false);
    const auto edges = unable.reconcile(std::vector{web});
    ASSERT_EQ(edges.size(), 1U);
    EXPECT_THAT(edges[0].error, HasSubstr("cannot refuse sockets"));
    EXPECT_THAT(unable.reconcile(std::vector{web}), IsEmpty());
    EXPECT_THAT(unable.reconcile({}), IsEmpty());
}

}  // namespace
}  // namespace evictd::reconcile
