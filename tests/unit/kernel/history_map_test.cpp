// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Entries of the timer's history, as they come.
#include "kernel/history_map.hpp"

#include <gtest/gtest.h>

namespace evictd::kernel {
namespace {

TEST(HistoryMap, AnEntryThatWasNeverUsedIsNone) { EXPECT_FALSE(decode_sample({})); }

TEST(HistoryMap, WhatIsNoAmountIsNotKnown) {
    const auto sample = decode_sample({.time_ns = 7, .node_available = 4096, .pods_available = ~0ULL});
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->at.time_since_epoch().count(), 7);
    EXPECT_EQ(sample->node, 4096_B);
    EXPECT_FALSE(sample->pods);
}

TEST(HistoryMap, WithoutAMapThereIsNothing) { EXPECT_TRUE(read_history(-1).empty()); }

}  // namespace
}  // namespace evictd::kernel
