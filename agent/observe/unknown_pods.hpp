// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What cgroups use whose pods no source knows yet. It judges nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "evictd/model/observation.hpp"
#include "evictd/port/cgroups.hpp"
#include "observe/pod_table.hpp"

namespace evictd::observe {

// Those younger than unknown_pod_period that have a row. As a rule there are none, which costs nothing.
[[nodiscard]] std::vector<UnknownPod> unknown_pods(const std::vector<port::CgroupUsage>& rows, const PodTable& table,
                                                   MonotonicTime now);

// The `most` oldest, whatever their age, that have a row; for people.
[[nodiscard]] std::vector<UnknownPod> oldest_unknown_pods(const std::vector<port::CgroupUsage>& rows,
                                                          const PodTable& table, std::size_t most);

// A pod's cgroup that is not removed holds some 100 KiB; what is beyond these goes later.
inline constexpr std::size_t most_left_cgroups = 1024;

// All that have a row and no process, by uid.
[[nodiscard]] std::vector<LeftCgroup> left_cgroups(const std::vector<port::CgroupUsage>& rows, const PodTable& table);

}  // namespace evictd::observe
