// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A step's result as one line of JSON, for tools: keys and their order are a promise.
#pragma once

#include <string>

#include "replay/player.hpp"

namespace evictd::replay {

// Appends the line, newline included, to `out`.
void append_json(const Scenario& scenario, const StepResult& result, std::string& out);

}  // namespace evictd::replay
