// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The signals of a step against their thresholds, as bars.
#pragma once

#include <string>

#include "codec/text_style.hpp"
#include "evictd/model/config.hpp"
#include "replay/player.hpp"

namespace evictd::replay {

// A line for each threshold whose signal is known; nothing where there is none.
[[nodiscard]] std::string signals_text(const EvictionConfig& config, const StepResult& result,
                                       const codec::TextStyle& style);

}  // namespace evictd::replay
