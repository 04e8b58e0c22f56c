// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "stall_lines.hpp"

#include <algorithm>

#include "stall.hpp"

namespace evictd::policy {
namespace {

// A look costs a fraction of a millisecond: ten a second are a few thousandths of a CPU. The longer windows move
// slowly, and a tenth to a quarter of one is as late as anybody notices.
constexpr Duration look_for(StallWindow window) {
    switch (window) {
        case StallWindow::tenth:
            return std::chrono::milliseconds(100);
        case StallWindow::second:
            return std::chrono::milliseconds(250);
        case StallWindow::ten_seconds:
            break;
    }
    return std::chrono::seconds(1);
}

}  // namespace

std::vector<StallLine> stall_lines_for(const EvictionConfig& config) {
    std::vector<StallLine> lines;
    const auto add = [&](const StallThreshold& threshold) {
        const StallLine line{threshold.scope, threshold.window, line_of(threshold)};
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
            lines.push_back(line);
        }
    };
    for (const auto& threshold : config.stalls) {
        if (threshold.counted()) {
            add(threshold);
        }
    }
    if (config.confirm_pressure) {
        add({.window = StallWindow::tenth, .share = confirming_share});
    }
    return lines;
}

std::optional<Duration> look_for_stalls(const EvictionConfig& config, bool kernel_watches) {
    std::optional<Duration> soonest;
    for (const auto& threshold : config.stalls) {
        if (!kernel_watches || !threshold.counted()) {
            soonest = std::min(soonest.value_or(Duration::max()), look_for(threshold.window));
        }
    }
    return soonest;
}

}  // namespace evictd::policy
