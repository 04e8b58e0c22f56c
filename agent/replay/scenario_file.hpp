// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A scenario's text from a file, a pipe or standard input. What is in it is not known here.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "config/fault.hpp"

namespace evictd::replay {

struct ScenarioFile {
    std::string name;  // for faults
    std::string text;  // one byte beyond max_scenario_size where there was more
};

// "-" is standard input. Something endless ends.
[[nodiscard]] tl::expected<ScenarioFile, config::Fault> read_scenario_file(const std::string& path);

}  // namespace evictd::replay
