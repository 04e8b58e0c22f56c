// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A Config as `evictd check` shows it: what was understood, for a person to compare with what was meant.
#pragma once

#include <string>

#include "evictd/model/config.hpp"

namespace evictd::config {

[[nodiscard]] std::string describe(const Config& config, bool colour);

}  // namespace evictd::config
