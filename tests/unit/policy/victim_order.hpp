// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Expected victim orders in a few words, for the tests of the ranking.
#pragma once

#include <functional>

#include <gmock/gmock.h>

#include "rank.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {

struct OrderRow {
    const char* rule;
    std::vector<PodWords> pods;  // in the order expected
};

// Given in reverse, ranked by each of `signals`.
inline void expect_order(const OrderRow& row, const std::vector<Signal>& signals, const EvictionConfig& config = {}) {
    std::vector<std::string> expected;
    Observation observation;
    for (const auto& words : row.pods) {
        expected.push_back(words.name);
        observation.pods.insert(observation.pods.begin(), pod(words));
    }
    for (const Signal signal : signals) {
        EXPECT_THAT(names(rank_pods(config, signal, observation, {}), observation.pods),
                    ::testing::ElementsAreArray(expected))
            << row.rule << " for " << name(signal);
    }
}

inline ObservedPod changed(ObservedPod observed, const std::function<void(Pod&)>& change) {
    auto copy = std::make_shared<Pod>(*observed.pod);
    change(*copy);
    observed.pod = copy;
    return observed;
}

inline ObservedPod with_processes(PodWords words, std::int32_t processes) {
    ObservedPod observed = pod(words);
    if (observed.usage) observed.usage->processes = processes;
    return observed;
}

inline void expect_order(const char* rule, std::vector<ObservedPod> expected, Signal signal, FsLayout layout = {},
                         const EvictionConfig& config = {}) {
    std::vector<std::string> order;
    for (const auto& observed : expected) order.push_back(observed.pod->name);
    Observation observation;
    observation.fs_layout = layout;
    observation.pods.assign(expected.rbegin(), expected.rend());
    EXPECT_THAT(names(rank_pods(config, signal, observation, {}), observation.pods), ::testing::ElementsAreArray(order))
        << rule;
}

struct DiskWords {
    std::string name;
    std::int64_t used = 0;
    std::int64_t inodes = 0;
    std::optional<Bytes> request = std::nullopt;
    std::optional<std::int32_t> priority = std::nullopt;
    bool known = true;
};

// All of it in the writable layer.
inline ObservedPod disk_pod(const DiskWords& words) {
    ObservedPod observed = changed(pod({.name = words.name, .priority = words.priority}), [&](Pod& made) {
        if (words.request) made.containers[0].requests.ephemeral_storage = quantity(*words.request);
    });
    observed.usage->disk.rootfs = {words.used};
    observed.usage->disk.rootfs_inodes = words.inodes;
    if (!words.known) observed.usage.reset();
    return observed;
}

}  // namespace evictd::policy::testing
