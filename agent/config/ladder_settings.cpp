// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "config/ladder_settings.hpp"

namespace evictd::config {

using namespace std::chrono_literals;

// A pod that may not grow for longer than minutes has been left to starve.
void read_squeeze_for(const Value& setting, Config& config) {
    const auto period = setting.duration();
    if (!period) return;
    if (*period < 1s || *period > 10min) setting.refuse("out of range: " + to_string(*period), "1s to 10m");
    config.eviction.ladder.squeeze_for = *period;
}

// Shorter, it thaws before anything came of it; longer, clients and probes take the pod for dead.
void read_freeze_for(const Value& setting, Config& config) {
    const auto period = setting.duration();
    if (!period) return;
    if (*period < 20ms || *period > 5s) setting.refuse("out of range: " + to_string(*period), "20ms to 5s");
    config.eviction.ladder.freeze_for = *period;
}

std::string show_squeeze_for(const Config& config) { return to_string(config.eviction.ladder.squeeze_for); }

std::string show_freeze_for(const Config& config) { return to_string(config.eviction.ladder.freeze_for); }

}  // namespace evictd::config
