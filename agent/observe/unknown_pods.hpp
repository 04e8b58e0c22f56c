// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What cgroups use whose pods no source knows yet. It judges nothing.
#pragma once

#include <cstddef>
#include <functional>
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

// They are copied and written to tapes with each look; what is beyond these goes later.
inline constexpr std::size_t most_left_cgroups = 1024;

// Those of the wanted pods that have a row and no process, by uid.
[[nodiscard]] std::vector<LeftCgroup> left_cgroups(const std::vector<port::CgroupUsage>& rows, const PodTable& table,
                                                   const std::function<bool(const PodUid&)>& is_wanted);

}  // namespace evictd::observe
