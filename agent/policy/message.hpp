// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An evicted pod's message, in the kubelet's own words, which other tools search for. What evictd tells people in
// its own words is explain's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

struct EvictionMessage {
    std::string text;
    std::map<std::string, std::string> annotations;  // of the pod's kube event
};

// evictionMessage. `acting` are the thresholds of this look, not empty, the one that is handled first in front.
[[nodiscard]] EvictionMessage eviction_message(const ObservedPod& observed, const std::vector<MetThreshold>& acting);

}  // namespace evictd::policy
