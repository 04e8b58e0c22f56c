// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Programs that are installed beside the running one, or in the source tree that it was built in. Nowhere else is
// searched: what root executes must not depend on PATH, the working directory or the environment.
#pragma once

#include <string>

#include <sys/types.h>

#include "evictd/model/result.hpp"

namespace evictd::sys {

// The path of `name` in the directory of the running program. An error if it is not there, or if it is writable by
// users who cannot write the running program.
[[nodiscard]] Result<std::string> sibling_program(const std::string& name);

// The path of `path` in the directory above the running program's: in the source tree, where that is its "build".
// Errors as those of sibling_program, and also if its directory is writable by users who cannot write the running
// program.
[[nodiscard]] Result<std::string> source_program(const std::string& path);

// Whether `path` is a program that nobody but root, `owner` and those who may write a file of `mode` can change.
[[nodiscard]] Status check_program(const std::string& path, uid_t owner, mode_t mode);

}  // namespace evictd::sys
