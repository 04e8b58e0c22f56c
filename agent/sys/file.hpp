// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whole files by path, for configuration and state. Not for the kernel's control files on the hot path: those stay open
// (fd.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "evictd/model/result.hpp"

namespace evictd::sys {

// Regular files only (also those in /proc and /sys); a FIFO or device is refused without waiting for it. Bigger than
// `limit` is an error of kind invalid.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t limit);

// Readers see the old text or the new, also after a crash: a temporary file beside it, fsync, rename.
[[nodiscard]] Status write_atomically(const std::string& path, std::string_view text, mode_t mode = 0644);

// The directory and those above it. One that exists is left as it is.
[[nodiscard]] Status make_directories(const std::string& path, mode_t mode);

}  // namespace evictd::sys
