// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "config/exhaustion_settings.hpp"

#include <chrono>

namespace evictd::config {

using namespace std::chrono_literals;

// Less than a second leaves no time for a soft eviction; the policy looks ahead an hour at most.
void read_exhaustion_time(const Value& setting, Duration& time) {
    const auto read = setting.duration();
    if (!read) return;
    if (*read != 0s && (*read < 1s || *read > 1h)) {
        setting.refuse("out of range: " + to_string(*read), "1s to 1h; 0s switches it off");
    }
    time = *read;
}

// Never 0: that would make a hard threshold of it, and an estimate is no reason to kill at once.
void read_exhaustion_grace_period(const Value& setting, Duration& period) {
    const auto read = setting.duration();
    if (!read) return;
    if (*read < 100ms || *read > 1h) setting.refuse("out of range: " + to_string(*read), "100ms to 1h");
    period = *read;
}

}  // namespace evictd::config
