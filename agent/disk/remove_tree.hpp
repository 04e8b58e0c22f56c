// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Removes a directory with all that is in it, and nothing else: no symbolic link is followed and no mount point
// entered, bind mounts of the same filesystem included.
#pragma once

#include <cstdint>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "sys/clock.hpp"

namespace evictd::disk {

struct TreeRemoval {
    bool is_done = false;       // false: the time was over, and some of it is left, which another call removes
    std::uint64_t removed = 0;  // directories too
};

// `name`: of a directory in `parent`, without "/". Any width, and 65,536 levels; two descriptors and some 100 bytes for
// each level, or as much as its name is longer. Looks at the clock before each removal: it is later than `deadline` by
// one system call, which takes its time where a file is large or a disk hangs. What vanishes meanwhile is no error, and
// what is added is removed too. Errors: `vanished` (it is not there), `invalid` (a symbolic link, a mount point, no
// directory, too deep: another call removes no more), other kinds: some of it is left, and another call may remove it.
[[nodiscard]] Result<TreeRemoval> remove_tree(int parent, const char* name, const sys::Clock& clock,
                                              MonotonicTime deadline);

}  // namespace evictd::disk
