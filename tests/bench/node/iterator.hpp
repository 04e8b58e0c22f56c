// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The agent's own kernel side inside the benchmark's process, to time a part of a look by itself.
#pragma once

#include "app/sources.hpp"
#include "pod_tree.hpp"
#include "sys/clock.hpp"

namespace evictd::bench {

// Loaded, attached, and following the tree's pods' root. `clock` must outlive it.
Result<app::KernelSources> open_iterator(const PodTree& tree, const sys::Clock& clock);

}  // namespace evictd::bench
