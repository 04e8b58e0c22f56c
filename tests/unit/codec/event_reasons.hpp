// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The reasons of events, in their order.
#pragma once

#include <string>
#include <vector>

#include "event.hpp"

namespace evictd::codec {

inline std::vector<std::string> reasons(const std::vector<Event>& events) {
    std::vector<std::string> names;
    for (const auto& event : events) names.push_back(event.reason.text());
    return names;
}

}  // namespace evictd::codec
