// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's MaxPID and NumOfRunningProcesses, from /proc.
#include "kernel/proc_pids.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

TEST(ProcPids, TasksAreTheDenominatorOfTheFourthField) {
    EXPECT_EQ(parse_tasks("0.00 0.01 0.05 1/123 4567\n"), 123);
    for (const auto* text : {"", "0.00 0.01 0.05", "0.00 0.01 0.05 1/", "0.00 0.01 0.05 1/x 3", "1/-3"}) {
        EXPECT_FALSE(parse_tasks(text)) << text;
    }
}

TEST(ProcPids, ReadTheRunningKernel) {
    auto files = ProcPids::open();
    ASSERT_TRUE(files) << files.error().text();
    const auto before = (*files)->read();
    ASSERT_TRUE(before) << before.error().text();
    EXPECT_GT(before->most, before->running);
    EXPECT_GE(before->running, 2);
}

}  // namespace
}  // namespace evictd::kernel
