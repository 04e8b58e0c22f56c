// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The program's own code in memory. mlockall(MCL_ONFAULT) keeps what was touched; a function that runs for the first
// time while the node thrashes would wait for the disk.
#pragma once

#include <string_view>

namespace evictd::sys {

// Maps every page of the code and constants of the program, and of the code of the C and C++ libraries; after
// mlockall() these stay. Some 1.5 MiB more than what start-up touches. Other libraries, which are larger, are left as
// they are. madvise(MADV_POPULATE_READ), Linux 5.14; 0 or errno.
[[nodiscard]] int populate_code();

// Whether populate_code() takes that object of the link map, by the name that dl_iterate_phdr(3) gives it.
[[nodiscard]] bool is_code_needed_at_once(std::string_view object);

}  // namespace evictd::sys
