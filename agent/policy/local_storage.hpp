// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods that use more local storage than they were given. That needs no pressure on the node, and no order among pods.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::policy {

// Whether it has any of the limits of broken_limit(). True also where that is not known yet.
[[nodiscard]] bool may_break_limit(const Pod& pod);

// localStorageEviction for one pod: an emptyDir beyond its sizeLimit, the pod beyond its containers' ephemeral-storage
// limits, a container beyond its own; the first that is found. Nothing for a pod whose usage is not known.
[[nodiscard]] std::optional<BrokenLimit> broken_limit(const ObservedPod& observed, FsLayout layout);

// The kubelet's message, to the letter, trailing blank included.
[[nodiscard]] std::string limit_message(const BrokenLimit& broken);

}  // namespace evictd::policy
