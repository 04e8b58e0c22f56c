// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The events of removals: pods that go for a taint, a deadline, or because they have ended.
#pragma once

#include <vector>

#include "event.hpp"

namespace evictd::codec {

// One when it begins, and one when the API server refuses it; none at other looks.
void add_removal(const Removal& removal, const Tick& tick, std::vector<Event>& events);

}  // namespace evictd::codec
