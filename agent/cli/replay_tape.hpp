// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd replay` does with tapes, and with a configuration that is another than the played one's. The verb itself
// is in replay.cpp.
#pragma once

#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "evictd/model/config.hpp"
#include "replay/scenario.hpp"

namespace evictd::cli {

// Decides again over every look, and prints each decision. `no` where one is not the recorded one.
Exit play_tapes(const std::vector<std::string>& files, bool json);

// Where `other` decides otherwise. A question, not a check: fine, however much differs. `name` is what `other` is
// called.
Exit compare_tapes(const std::vector<std::string>& files, const Config& other, const std::string& name, bool json);
Exit compare_scenario(const replay::Scenario& scenario, const Config& other, const std::string& name, bool json);

}  // namespace evictd::cli
