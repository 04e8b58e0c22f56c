// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which way of counting memory the thresholds are compared with.
#pragma once

#include "evictd/model/observation.hpp"

namespace evictd::policy {

// Makes `available` what is `counted` that way, wherever a reading is known both ways. Before decide(), and before
// anybody else is told of the readings.
void compare_with(MemoryAvailable counted, Readings& readings);

}  // namespace evictd::policy
