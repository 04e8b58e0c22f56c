// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/back_off.hpp"

#include <gtest/gtest.h>

namespace evictd {
namespace {

using namespace std::chrono_literals;

TEST(BackOff, IsTwiceAsLongAfterEachFailure) {
    EXPECT_EQ(back_off(1s, 30s, 1), 1s);
    EXPECT_EQ(back_off(1s, 30s, 2), 2s);
    EXPECT_EQ(back_off(1s, 30s, 5), 16s);
    EXPECT_EQ(back_off(1s, 30s, 6), 30s);
    EXPECT_EQ(back_off(1s, 300s, 1000), 64s);
}

TEST(ServerFailures, AnOutageDoesNotCountAgainstAServerThatIsBack) {
    ServerFailures failures;
    EXPECT_FALSE(failures.any());
    for (std::int32_t i = 1; i <= 7; ++i) EXPECT_EQ(failures.add(false), i);
    EXPECT_EQ(failures.add(true), 1);
    EXPECT_EQ(failures.add(true), 2);
    EXPECT_EQ(failures.add(false), 3);
    EXPECT_TRUE(failures.any());
    failures.clear();
    EXPECT_FALSE(failures.any());
}

// An overloaded server, or one of two behind a load balancer that is away.
TEST(ServerFailures, FewerThanThreeAreNoOutage) {
    ServerFailures failures;
    for (std::int32_t i = 1; i <= 9; i += 3) {
        EXPECT_EQ(failures.add(false), i);
        EXPECT_EQ(failures.add(false), i + 1);
        EXPECT_EQ(failures.add(true), i + 2);
    }
    EXPECT_EQ(failures.add(false), 10);
    EXPECT_EQ(failures.add(false), 11);
    EXPECT_EQ(failures.add(false), 12);
    EXPECT_EQ(failures.add(true), 1);
}

TEST(ServerFailures, AServerThatAnsweredFromTheBeginningHasNoOutage) {
    ServerFailures failures;
    EXPECT_EQ(failures.add(true), 1);
    EXPECT_EQ(failures.add(true), 2);
}

}  // namespace
}  // namespace evictd
