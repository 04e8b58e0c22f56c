// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/node_stalls.hpp"

#include <algorithm>

namespace evictd::kernel {

void NodeStalls::want(const EvictionConfig& config) {
    wanted_ = {};
    wanted_.front() = map_ == nullptr;
    pods_wanted_ = false;
    uncounted_.clear();
    for (const auto& threshold : config.stalls) {
        if (!is_from_file(threshold)) {
            continue;
        }
        const bool of_pods = threshold.scope == StallScope::pod;
        (of_pods ? pods_wanted_ : wanted_.at(static_cast<std::size_t>(threshold.resource))) = true;
        if (!(of_pods ? pods_.available() : files_.available())) {
            uncounted_.push_back(threshold);
        }
    }
}

void NodeStalls::read(MonotonicTime now, std::vector<NodeStall>& stalls) {
    for (std::size_t i = 0; i < wanted_.size(); i++) {
        const auto resource = static_cast<StallResource>(i);
        NodeStall stall{.resource = resource, .some = {}, .full = {}};
        if (wanted_.at(i)) {
            if (auto read = files_.read(resource, now)) {
                stall = *read;
            }
        }
        if (resource == StallResource::memory && map_ != nullptr) {
            if (const auto counted = map_->node()) {
                stall.some = *counted;
            }
        }
        if (stall.some || stall.full) {
            stalls.push_back(stall);
        }
    }
}

void NodeStalls::complete(const port::StalledPod& pod) const {
    const auto* lost = pods_.lost(pod.cgroup.id());
    const auto any = [](const std::optional<StallTimes>& times) {
        return times && std::any_of(times->begin(), times->end(), [](Duration d) { return d > Duration{0}; });
    };
    if (lost == nullptr || (!pod.stall && !any(lost->some))) {
        return;
    }
    auto& stall = pod.stall ? *pod.stall : pod.stall.emplace();
    // Our programs do not count waiting for what was just dropped to be read again; `full` is part of `some` all the
    // same.
    if (!any(stall.some) && lost->some) {
        stall.some = *lost->some;
    }
    stall.full = lost->full;
    stall.read_at = pods_.read_at();
}

void NodeStalls::read_pods(bool latency_critical, std::span<const port::StalledPod> pods) {
    if (!latency_critical) {
        pods_.read(pods);
    }
    for (const auto& pod : pods) {
        complete(pod);
    }
}

}  // namespace evictd::kernel
