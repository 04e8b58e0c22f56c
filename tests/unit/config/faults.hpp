// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a load says is wrong, as a person reads it.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace evictd::config {

inline std::vector<std::string> faults_of(const ConfigOutcome& outcome) {
    std::vector<std::string> out;
    if (outcome) return out;
    for (const Fault& fault : outcome.error()) out.push_back(fault.text());
    return out;
}

}  // namespace evictd::config
