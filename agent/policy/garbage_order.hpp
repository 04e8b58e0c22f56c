// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// In which order containers and sandboxes can go: the owner graph's. Chooses nothing.
#pragma once

#include <vector>

#include "evictd/model/runtime.hpp"
#include "owners.hpp"

namespace evictd::policy {

inline constexpr const char* container_object = "container";
inline constexpr const char* sandbox_object = "sandbox";

// `containers`, `sandboxes`: positions in the runtime's lists of what is to go. A sandbox waits for its containers; one
// with a container that stays is left out.
[[nodiscard]] std::vector<ObjectId> removal_order(const Runtime& runtime, const std::vector<std::size_t>& containers,
                                                  const std::vector<std::size_t>& sandboxes);

}  // namespace evictd::policy
