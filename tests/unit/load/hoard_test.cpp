// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "load/hoard.hpp"

#include <gtest/gtest.h>

namespace evictd::load {
namespace {

TEST(Hoard, NeverTakesMoreThanItMay) {
    Hoard hoard(1 << 20, false);
    hoard.grow_to(64 << 10);
    EXPECT_EQ(hoard.taken(), 64U << 10U);
    hoard.grow_to(1 << 30);
    EXPECT_EQ(hoard.taken(), 1U << 20U);
    hoard.shrink_to(16 << 10);
    EXPECT_EQ(hoard.taken(), 16U << 10U);
    hoard.grow_at_once();
    EXPECT_EQ(hoard.taken(), 1U << 20U);
}

TEST(Hoard, GrowsAtARateUntilItIsFull) {
    Hoard hoard(256 << 10, true);
    hoard.grow(64 << 20, false);
    EXPECT_EQ(hoard.taken(), 256U << 10U);
}

}  // namespace
}  // namespace evictd::load
