// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The process's table of file descriptors: how many there may be, and how many have a place already.
#pragma once

#include <cstddef>

namespace evictd::sys {

// The soft limit as high as the hard one: a pod takes a directory handle and a file, and 1,000 pods are beyond the
// usual soft limit.
void raise_fd_limit();

// Places for `count` descriptors, or for as many as the limit allows. The kernel makes a table larger when its last
// place is taken; in a process with threads that open() or pidfd_open() waits for an RCU grace period
// (expand_fdtable()), which under a fork bomb takes seconds. A table never becomes smaller, so none of these is needed
// in the end. 8 bytes of kernel memory a place. Best before there are threads: then it does not wait itself. Without
// them all else works; it is logged.
void grow_fd_table(std::size_t count);

}  // namespace evictd::sys
