// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The ladder before the kill, under `evictd.ladder`: which rungs there are, and for how long a pod is held on one.
#pragma once

#include <string>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Value;

template <bool LadderConfig::*member>
void read_rung(const Value& setting, Config& config) {
    config.eviction.ladder.*member = setting.boolean().value_or(config.eviction.ladder.*member);
}
template <bool LadderConfig::*member>
std::string show_rung(const Config& config) {
    return config.eviction.ladder.*member ? "true" : "false";
}

void read_squeeze_for(const Value& setting, Config& config);
[[nodiscard]] std::string show_squeeze_for(const Config& config);

void read_freeze_for(const Value& setting, Config& config);
[[nodiscard]] std::string show_freeze_for(const Config& config);

}  // namespace evictd::config
