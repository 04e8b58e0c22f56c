// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Exemptions as people read them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "evictd/model/decision.hpp"

namespace evictd::policy {

// By Exemption.
inline constexpr std::array<std::string_view, 11> exemption_words{
    "evictable",
    "critical",
    "static",
    "mirror",
    "being evicted",
    "failed before",
    "no cgroup found",
    "no process left",
    "no process left, and its memory was not returned",
    "being deleted",
    "evictd itself runs in it",
};
static_assert(exemption_words.size() == static_cast<std::size_t>(Exemption::own_pod) + 1);

}  // namespace evictd::policy
