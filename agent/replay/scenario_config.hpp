// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A scenario's `config`, read by the one reader of configurations there is.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "config/fault.hpp"
#include "evictd/model/config.hpp"
#include "kube/document.hpp"

namespace evictd::replay {

// The defaults where it says nothing. The first of its faults, with the scenario's line and key.
[[nodiscard]] tl::expected<Config, config::Fault> read_config(const kube::Document& scenario, const std::string& file);

}  // namespace evictd::replay
