// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' usage from the rows of one pass, parents before children; and what is available below the pods' root.
#pragma once

#include <vector>

#include "evictd/model/observation.hpp"
#include "evictd/port/cgroups.hpp"
#include "observe/pod_table.hpp"

namespace evictd::observe {

// The page cache of all rows, as of `at`.
[[nodiscard]] port::RootCount counted_cache(const std::vector<port::CgroupUsage>& rows, MonotonicTime at);

// allocatableMemory.available. `root`: the first row. `node_total`: the limit where the pods' root has none.
[[nodiscard]] Reading allocatable_reading(const port::CgroupUsage& root, const port::RootCount& cache,
                                          Bytes node_total);

// One for each row of the table, in its order. Without usage: the pass found no cgroup of the pod.
[[nodiscard]] std::vector<ObservedPod> observed_pods(const std::vector<port::CgroupUsage>& rows, const PodTable& table);

}  // namespace evictd::observe
