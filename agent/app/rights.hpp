// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What of root's power the agent keeps once everything is loaded, opened and pinned.
#pragma once

#include <cstdint>

#include "evictd/model/result.hpp"

namespace evictd::app {

// Of the calling thread, and of all that it makes from now on: before there are lanes. Everything else of what it may
// is given up for good.
Status keep_needed_rights();

// As a bit each, as in /proc/PID/status; for tests and doctor.
[[nodiscard]] std::uint64_t needed_rights();

}  // namespace evictd::app
