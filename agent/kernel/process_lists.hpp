// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The processes of one cgroup, and the cgroup of this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "evictd/model/result.hpp"

namespace evictd::kernel {

// A control file as a whole; an error where it is longer than sys::control_file_limit.
[[nodiscard]] Result<std::string> read_file_at(int directory, const char* name);

// In ascending order. Opened anew each time: a v1 file that stays open shows an old list for a second.
[[nodiscard]] Result<std::vector<pid_t>> list_processes(int directory);
// Those whose threads are in it (cgroup.threads, v2): also one whose main thread exited in another cgroup, which
// cgroup.procs does not name. Takes two system calls for each thread.
[[nodiscard]] Result<std::vector<pid_t>> list_by_threads(int directory);

// The path of this program's cgroup in the memory hierarchy, as /proc/self/cgroup has it: below the root of our cgroup
// namespace. None: it cannot be read.
[[nodiscard]] std::optional<std::string> own_cgroup(bool v2);
// The same below the root of process 1's cgroup namespace, for an agent in a container that shares the host's
// processes. None: it cannot be entered, or no thread can be made. Starts a thread; its namespace alone is another.
[[nodiscard]] std::optional<std::string> own_cgroup_of_host(bool v2);
// Of the text of such a file.
[[nodiscard]] std::optional<std::string> memory_cgroup_in(const std::string& proc_cgroup, bool v2);

}  // namespace evictd::kernel
