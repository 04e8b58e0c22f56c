// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The program's own code in memory. mlockall(MCL_ONFAULT) locks a page once it was touched. A function that runs for
// the first time while the node thrashes would otherwise wait for the disk.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace evictd::sys {

// Reads every page of the program's code and constants, and of the code of the C and C++ libraries, into memory and
// maps it: madvise(MADV_POPULATE_READ), Linux 5.14. May block on the disk. Call it after mlockall(), which keeps the
// pages there: some 1.3 MiB more than start-up touches. Other libraries are larger and left as they are. Returns 0, or
// the errno of the first failure; what follows a failure is mapped all the same.
[[nodiscard]] int populate_code();

// Takes the whole pages of this code or of these constants, which nothing may have written to, out of the process's
// memory. What is needed again is read from the file and then locked, as far as the process may lock memory. Where it
// cannot be done the pages stay, which costs memory and nothing else.
void give_back(std::span<const std::byte> pages);

// Whether populate_code() reads this object, by its dlpi_name of dl_iterate_phdr(3); the program's own is empty.
[[nodiscard]] bool is_code_needed_at_once(std::string_view object);

}  // namespace evictd::sys
