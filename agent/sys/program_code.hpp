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

// Takes the whole pages of these constants out of memory again: they are read from the program's file if anybody needs
// them once more. Call it after populate_code().
void unmap_constants(std::span<const std::byte> constants);

// Whether populate_code() reads this object, by its dlpi_name of dl_iterate_phdr(3); the program's own is empty.
[[nodiscard]] bool is_code_needed_at_once(std::string_view object);

}  // namespace evictd::sys
