// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// UpdateContainerFsThresholds of eviction/helpers.go. Of several thresholds with one signal and kind the last counts.
#include "containerfs.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace evictd::policy {
namespace {

struct Derived {
    Signal signal;
    Signal nodefs;
    Signal imagefs;
};
constexpr std::array<Derived, 2> derived_signals{{
    {Signal::containerfs_available, Signal::nodefs_available, Signal::imagefs_available},
    {Signal::containerfs_inodes_free, Signal::nodefs_inodes_free, Signal::imagefs_inodes_free},
}};

bool is_containerfs(const Threshold& threshold) {
    return threshold.signal == Signal::containerfs_available || threshold.signal == Signal::containerfs_inodes_free;
}

std::string ignored(const Threshold& threshold) {
    return "found " + std::string(name(threshold.signal)) + " for " + (threshold.hard() ? "hard" : "soft") +
           " eviction. ignoring";
}

std::optional<Threshold> last_of(const std::vector<Threshold>& thresholds, Signal signal, bool hard) {
    const auto found = std::find_if(thresholds.rbegin(), thresholds.rend(), [&](const Threshold& threshold) {
        return threshold.signal == signal && threshold.hard() == hard;
    });
    return found == thresholds.rend() ? std::nullopt : std::optional(*found);
}

}  // namespace

EvictionConfig with_containerfs(const EvictionConfig& config, FsLayout layout, std::vector<std::string>& notes) {
    EvictionConfig effective = config;
    if (layout == FsLayout::unknown) return effective;
    for (const auto& threshold : config.thresholds) {
        if (is_containerfs(threshold)) notes.push_back(ignored(threshold));
    }
    std::erase_if(effective.thresholds, is_containerfs);
    for (const auto& row : derived_signals) {
        const Signal source = layout == FsLayout::dedicated_image_fs ? row.imagefs : row.nodefs;
        for (const bool hard : {true, false}) {
            auto copy = last_of(config.thresholds, source, hard);
            if (!copy) continue;
            copy->signal = row.signal;
            effective.thresholds.push_back(*copy);
        }
    }
    return effective;
}

}  // namespace evictd::policy
