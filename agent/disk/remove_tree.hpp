// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Removes a directory with all that is in it, and nothing else: no symbolic link is followed and no mount point
// entered, bind mounts of the same filesystem included.
#pragma once

#include <cstddef>
#include <cstdint>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "sys/clock.hpp"

namespace evictd::disk {

struct TreeRemoval {
    bool is_done = false;       // false: the time was over, and some of it is left, which another call removes
    std::uint64_t removed = 0;  // directories too
};

// Whose names are in memory at a time, 16 MiB at most. Far more than any path has, and no limit for who goes down step
// by step, as a pod may in its emptyDir: what is deeper is moved up into the first level, and goes from there.
inline constexpr std::size_t default_levels = std::size_t{1} << 16U;

// `name`: of a directory in `parent`, without "/". Any width and any depth; three descriptors and some 100 bytes for
// each level, or as much as its name is longer, of `most_levels` levels at most. Looks at the clock before each
// removal: it is later than `deadline` by one system call, which takes its time where a file is large or a disk hangs.
// What vanishes meanwhile is no error, and what is added is removed too. Errors: `vanished` (it is not there),
// `invalid` (a symbolic link, a mount point, no directory: another call removes no more), other kinds: some of it is
// left, and another call may remove it.
[[nodiscard]] Result<TreeRemoval> remove_tree(int parent, const char* name, const sys::Clock& clock,
                                              MonotonicTime deadline, std::size_t most_levels = default_levels);

}  // namespace evictd::disk
