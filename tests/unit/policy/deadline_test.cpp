// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// spec.activeDeadlineSeconds in one table.
#include "deadline.hpp"

#include <gtest/gtest.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

TEST(ActiveDeadline, FollowsPastActiveDeadline) {
    struct Row {
        const char* rule;
        std::optional<std::chrono::seconds> deadline;
        std::optional<Duration> started;  // since 1970
        Duration now;
        bool past;
    };
    const Row rows[] = {
        {"without a deadline", {}, 100s, 1000s, false},
        {"not started", 10s, {}, 1000s, false},
        {"before its time", 10s, 100s, 110s - 1ns, false},
        {"at its time", 10s, 100s, 110s, true},
        {"after its time", 10s, 100s, 111s, true},
        {"a deadline of zero", 0s, 100s, 100s, true},
        {"started in the future", 10s, 100s, 50s, false},
        {"a deadline beyond all times", std::chrono::seconds::max(), 100s, 1000s, false},
        {"a start before all times", 10s, Duration::min(), 1000s, true},
        {"a start after all times", 10s, Duration::max(), -1000s, false},
    };
    for (const Row& row : rows) {
        Pod one = *pod({.name = "a", .started = row.started}).pod;
        one.active_deadline = row.deadline;
        EXPECT_EQ(past_active_deadline(one, WallTime(row.now)), row.past) << row.rule;
    }
}

TEST(ActiveDeadline, IsReportedInTheKubeletsWords) {
    EXPECT_EQ(deadline_reason, "DeadlineExceeded");
    EXPECT_EQ(deadline_message, "Pod was active on the node longer than the specified deadline");
}

}  // namespace
}  // namespace evictd::policy::testing
