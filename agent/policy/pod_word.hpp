// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What of a pod's garbage may go, by what its source says of it.
#pragma once

#include "evictd/model/pod.hpp"
#include "garbage.hpp"

namespace evictd::policy {

// `populated`: some process of it is left.
[[nodiscard]] PodWord word_of(const Pod& pod, bool populated);
// Of a pod that no source has: its source may be late.
[[nodiscard]] PodWord word_of_unlisted();

}  // namespace evictd::policy
