// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/score_row.hpp"

#include <gtest/gtest.h>

namespace evictd::app {
namespace {

TEST(ScoreRow, NamesThePodThatIsRaisedOrWhyItIsNot) {
    auto row = score_row(AgentConfig{}, {.steered = "default/b"});
    EXPECT_EQ(row.detail, "default/b is raised to 1000");
    EXPECT_FALSE(row.fallback);
    row = score_row(AgentConfig{}, {.not_raised = "default/b is not raised: raised_scores: No space left on device"});
    EXPECT_EQ(row.detail, "default/b is not raised: raised_scores: No space left on device");
    EXPECT_TRUE(row.fallback);
}

TEST(ScoreRow, ADryRunSaysWhatWouldBeDone) {
    AgentConfig config;
    EXPECT_EQ(score_row(config, {}).chosen, "enforced, steered");
    config.dry_run = true;
    EXPECT_EQ(score_row(config, {}).chosen, "would be enforced, would be steered");
    config.oom_score_adj_policy = OomScoreAdjPolicy::observe;
    EXPECT_EQ(score_row(config, {}).chosen, "observed, would be steered");
    config.oom_score_adj_policy = OomScoreAdjPolicy::off;
    EXPECT_EQ(score_row(config, {}).chosen, "would be steered");
    config.oom_score_adj_steering = false;
    EXPECT_EQ(score_row(config, {}).chosen, "");
}

}  // namespace
}  // namespace evictd::app
