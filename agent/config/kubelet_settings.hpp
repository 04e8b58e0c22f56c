// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The keys of a KubeletConfiguration that evictd reads, one row each, with the kubelet's meaning and validation.
#pragma once

#include <span>
#include <string_view>

#include "config/thresholds.hpp"
#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

// A configuration being read: what needs several keys together is kept until all are in.
struct Draft {
    Config config;
    ThresholdSettings thresholds;
    std::optional<Value> image_gc_high, image_gc_low, image_minimum_age, image_maximum_age;
};

struct KubeletSetting {
    std::string_view name;
    void (*read)(const Value& setting, Draft& draft);
};
[[nodiscard]] std::span<const KubeletSetting> kubelet_settings();

// What can be said only when all keys have been read: thresholds, and keys that limit each other.
void finish(Draft& draft);

}  // namespace evictd::config
