// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Events that the agent could not write to its log, and that no verb can show therefore.
#pragma once

#include <string>

namespace evictd::cli {

// On stderr, if the agent at `socket` says that it lost some.
void report_lost_events(const std::string& socket);

}  // namespace evictd::cli
