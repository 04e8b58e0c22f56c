// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The soft thresholds in time, under `evictd.timeToExhaustion`: of memory, and of filesystems.
#pragma once

#include <string>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Value;

// 0: no such threshold.
void read_exhaustion_time(const Value& setting, Duration& time);
void read_exhaustion_grace_period(const Value& setting, Duration& period);

template <Duration EvictionConfig::*member>
void read_time(const Value& setting, Config& config) {
    read_exhaustion_time(setting, config.eviction.*member);
}
template <Duration EvictionConfig::*member>
void read_grace_period(const Value& setting, Config& config) {
    read_exhaustion_grace_period(setting, config.eviction.*member);
}
template <Duration EvictionConfig::*member>
std::string show_time(const Config& config) {
    return to_string(config.eviction.*member);
}

}  // namespace evictd::config
