// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd's own settings, under `evictd:`: one row each says how it is called, read and shown. A new setting is a field
// in model/config.hpp and a row here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

using document::Value;

struct AgentSetting {
    std::string_view name;  // dotted, below `evictd:`
    void (*read)(const Value& setting, Config& config);
    std::string (*show)(const Config& config);
};
[[nodiscard]] std::span<const AgentSetting> agent_settings();

// The settings of an `evictd:` block by name, blocks inside it opened up; unknown keys are noted as faults and left
// out.
using AgentValues = std::vector<std::pair<std::string, Value>>;
[[nodiscard]] AgentValues flatten_agent_settings(const Value& block);

// A remedy for a key that is elsewhere: "freeze belongs under evictd.ladder:". Empty: no setting or block is called so.
[[nodiscard]] std::string where_it_belongs(std::string_view key);

}  // namespace evictd::config
