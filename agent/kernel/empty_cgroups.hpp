// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Removes a cgroup with those below it, the deepest first. It reads no list of processes: the kernel refuses to remove
// a cgroup that has one.
#pragma once

#include <string>

#include "evictd/model/units.hpp"
#include "sys/clock.hpp"

namespace evictd::kernel {

// `name`: of a cgroup in `parent`, without "/". Whatever its depth and number, with two descriptors and a name for each
// level in memory. 0, also where it has vanished, or errno: EBUSY where there is a process, ETIMEDOUT where some are
// left at the deadline. What was removed until then stays removed.
[[nodiscard]] int remove_empty_cgroups(int parent, const std::string& name, const sys::Clock& clock,
                                       MonotonicTime deadline);

}  // namespace evictd::kernel
