// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/score_row.hpp"

#include <gtest/gtest.h>

namespace evictd::app {
namespace {

TEST(ScoreRow, SaysWhichPodIsRaisedOrWhyItIsNot) {
    auto row = score_row(OomScoreAdjPolicy::enforce, true, {.steered = "default/b"});
    EXPECT_EQ(row.detail, "default/b is raised to 1000");
    EXPECT_FALSE(row.fallback);
    row = score_row(OomScoreAdjPolicy::enforce, true,
                    {.not_raised = "default/b is not raised: raised_scores: No space left on device"});
    EXPECT_EQ(row.detail, "default/b is not raised: raised_scores: No space left on device");
    EXPECT_TRUE(row.fallback);
}

}  // namespace
}  // namespace evictd::app
