// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A step's result for a person: one line where nothing happens, else what the node measures, what is done and why. No
// tool should read this.
#pragma once

#include <string>

#include "codec/text_style.hpp"
#include "replay/player.hpp"

namespace evictd::replay {

void append_text(const Scenario& scenario, const StepResult& result, const codec::TextStyle& style, std::string& out);

}  // namespace evictd::replay
