// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What an evicted pod really gets: the eviction manager's wish and what the pod worker makes of it.
#include "grace.hpp"

#include <gtest/gtest.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

struct EffectiveGraceRow {
    const char* rule;
    bool hard;
    std::chrono::seconds most;
    std::chrono::seconds own;
    std::optional<std::chrono::seconds> deletion;
    std::chrono::seconds granted;
};

TEST(EffectiveGracePeriod, FollowsThePodWorker) {
    const std::vector<EffectiveGraceRow> rows{
        {"hard: one second", true, 60s, 30s, {}, 1s},
        {"hard: one second though the pod has none of its own", true, 0s, 0s, {}, 1s},
        {"soft: the pod's own where it is shorter", false, 60s, 30s, {}, 30s},
        {"soft: the setting where it is shorter", false, 10s, 30s, {}, 10s},
        {"soft: a setting of 0 ends as the least there is", false, 0s, 30s, {}, 1s},
        {"soft: a negative setting ends as the least there is", false, -1s, 30s, {}, 1s},
        {"soft: a pod without a grace period gets the least there is", false, 60s, 0s, {}, 1s},
        {"a deletion on its way is not prolonged", false, 60s, 30s, 5s, 5s},
        {"but shortened", false, 3s, 30s, 5s, 3s},
        {"hard: a deletion on its way is shortened", true, 0s, 30s, 20s, 1s},
        {"a deletion on its way and a setting of 0", false, 0s, 30s, 5s, 1s},
        {"a deletion at once", false, 60s, 30s, 0s, 1s},
    };
    for (const auto& row : rows) {
        Pod pod;
        pod.termination_grace_period = row.own;
        pod.deletion_grace_period = row.deletion;
        EvictionConfig config;
        config.max_pod_grace_period = row.most;
        const Threshold threshold = row.hard ? hard(1_GiB) : soft(1_GiB, 10s);
        EXPECT_EQ(grace_period_of(pod, threshold, config), row.granted) << row.rule;
    }
}

TEST(EffectiveGracePeriod, IsThePodsOwnWhereThatIsChosenAndNoMaximumIsSet) {
    const std::vector<EffectiveGraceRow> rows{
        {"hard: one second", true, 0s, 30s, {}, 1s},
        {"no maximum", false, 0s, 30s, {}, 30s},
        {"a negative one defers to the pod", false, -1s, 30s, {}, 30s},
        {"a maximum still holds", false, 10s, 30s, {}, 10s},
        {"the pod has none of its own", false, 0s, 0s, {}, 1s},
        {"a deletion on its way is not prolonged", false, 0s, 30s, 5s, 5s},
    };
    for (const auto& row : rows) {
        Pod pod;
        pod.termination_grace_period = row.own;
        pod.deletion_grace_period = row.deletion;
        EvictionConfig config;
        config.max_pod_grace_period = row.most;
        config.soft_eviction_grace = SoftEvictionGrace::pod;
        const Threshold threshold = row.hard ? hard(1_GiB) : soft(1_GiB, 10s);
        EXPECT_EQ(grace_period_of(pod, threshold, config), row.granted) << row.rule;
    }
}

}  // namespace
}  // namespace evictd::policy::testing
