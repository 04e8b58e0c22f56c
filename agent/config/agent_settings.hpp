// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd's own settings, under `evictd:`: one row each says how it is called, read and shown. A new setting is a field
// in model/config.hpp and a row here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/setting.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

struct AgentSetting {
    std::string_view name;  // dotted, below `evictd:`
    void (*read)(const Setting& setting, Config& config);
    std::string (*show)(const Config& config);
};
[[nodiscard]] std::span<const AgentSetting> agent_settings();

// The settings of an `evictd:` block, blocks inside it opened up; unknown keys are noted as faults and left out.
[[nodiscard]] std::vector<Setting> flatten_agent_settings(const Setting& block);

}  // namespace evictd::config
