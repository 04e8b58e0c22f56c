// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Removes a directory with all that is in it, and nothing else: no symbolic link is followed and no mount point
// entered, bind mounts of the same filesystem included.
#pragma once

#include "evictd/model/result.hpp"

namespace evictd::disk {

// `name`: of a directory in `parent`, without "/". Any depth, with two descriptors. What vanishes meanwhile is no
// error. Errors: `vanished` (it is not there), `invalid` (a symbolic link, a mount point, no directory), `failed`: some
// of it is left.
[[nodiscard]] Status remove_tree(int parent, const char* name);

}  // namespace evictd::disk
