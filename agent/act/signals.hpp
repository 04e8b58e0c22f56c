// SPDX-License-Identifier: Apache-2.0
// A signal to every process of a cgroup, by pidfd: a pid that was recycled meanwhile is never hit.
#pragma once

#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"
#include "sys/fd.hpp"

namespace evictd::act {

// A process that was in the cgroup while we held it: `pidfd` stays this process, `pid` may be another's once it is
// gone.
struct HeldProcess {
    pid_t pid = 0;
    sys::Fd pidfd;
};

// Opens a pidfd for each process `listed` in the cgroup a moment ago, then reads the list again and keeps those still
// in it: what a pidfd refers to then was in the cgroup while we held it. This process itself is never among them. An
// error if there are processes and not one of them could be held, though they did not end.
[[nodiscard]] Result<std::vector<HeldProcess>> hold_processes(const port::PodCgroup& cgroup,
                                                              const std::vector<pid_t>& listed);

// How many took the signal; those that ended meanwhile do not count. The first refusal is the error.
[[nodiscard]] Result<int> signal_all(const std::vector<HeldProcess>& processes, int signal_number);

// process_mrelease(2): the dying process's memory comes back now, not when it gets scheduled to exit. Blocks while it
// frees (some 50 us a MiB). Older kernels than 5.15 do not know it.
void release_memory(const HeldProcess& process);

}  // namespace evictd::act
