// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Eviction thresholds from the kubelet's four maps, by the rules and with the words of ParseThresholdConfig in
// pkg/kubelet/eviction/helpers.go. Does not know where the maps come from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Value;

struct ThresholdSettings {
    std::optional<Value> hard;  // nothing: the kubelet's defaults hold
    std::optional<Value> soft;
    std::optional<Value> soft_grace_period;
    std::optional<Value> minimum_reclaim;
    bool merge_defaults = false;  // mergeDefaultEvictionSettings
    bool pods_enforced = true;    // enforceNodeAllocatable has "pods": hard memory thresholds hold for the pods too
};

// What is refused is noted at its setting and left out.
[[nodiscard]] std::vector<Threshold> parse_thresholds(const ThresholdSettings& settings);

// What the kubelet accepts without a word, although it has no effect or another one than it says. `thresholds`: as
// parsed.
[[nodiscard]] std::vector<std::string> threshold_warnings(const ThresholdSettings& settings,
                                                          const std::vector<Threshold>& thresholds);

}  // namespace evictd::config
