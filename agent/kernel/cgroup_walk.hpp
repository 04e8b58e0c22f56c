// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Every cgroup of a subtree, by directory handles. A pod makes cgroups as it likes: any name, any depth, any number.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>

#include "evictd/model/result.hpp"

namespace evictd::kernel {

enum class Walk { on, stop };

// With which a cgroup's directory is opened.
inline constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

// The links of the directory of a cgroup without others below it; one more for each.
inline constexpr nlink_t leaf_links = 2;

// The next directory among what getdents64(2) gave, from `at` on, which goes behind it. Null: there is none.
[[nodiscard]] const dirent64* next_directory(std::span<const char> entries, std::size_t& at);

// Calls `visit` with each directory from `directory` downwards, parents first, until it says stop. Takes a bounded
// number of descriptors and a few bytes a level. A directory that goes away meanwhile is passed over; one made
// meanwhile may be visited or not; one may be visited twice. What could not be opened or listed for another reason is
// the error, after all the rest was visited.
Status walk_cgroups(int directory, const std::function<Walk(int directory)>& visit);

// Each process that the open cgroup.procs `file` lists, from its position to its end, however many there are. Those of
// other pid namespaces, which have no number here, are passed over. A threaded cgroup (v2) lists none: the cgroup that
// it belongs to does.
Status read_pids(int file, const std::function<Walk(int pid)>& visit);

}  // namespace evictd::kernel
