// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Joins the elements of a list into one line of text.
#pragma once

#include <string>

namespace evictd::replay {

// "a, b, c", of what `say` makes of each.
std::string joined(const auto& values, const auto& say) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : ", ") + std::string(say(value));
    return text;
}

}  // namespace evictd::replay
