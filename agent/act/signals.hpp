// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A signal to every process of a pod, by pidfd: a pid that was recycled meanwhile is never hit. A batch at a time, so
// that a pod with more processes than there are descriptors is signalled like any other.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "evictd/port/cgroups.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::act {

// A process that was in the cgroup while we held it: `pidfd` stays this process, `pid` may be another's once it is
// gone.
struct HeldProcess {
    pid_t pid = 0;
    sys::Fd pidfd;
};
// A pidfd is readable once its process, with all its threads, has ended.
[[nodiscard]] bool has_ended(const HeldProcess& process);

struct Strike {
    int signal_number = 0;
    port::Listing listing = port::Listing::quick;
    // No new batch is begun from then on; but at least one process is signalled, unless the pod begins with many empty
    // cgroups.
    MonotonicTime until{};
    // The walk is cut short at a cgroup that lists more. None: at none.
    std::optional<std::size_t> most_listed{};
    // Each batch's pidfds are closed before the next batch, instead of kept in Struck::to_close: the walk needs few
    // descriptors.
    bool close_at_once = false;
    std::function<void(const std::vector<HeldProcess>&)> before_batch{};  // with those that are signalled next
    std::function<void(std::vector<HeldProcess>&)> after_batch{};  // with those that were signalled: it may take them
};

// What one walk over the pod came to.
struct Struck {
    std::vector<pid_t> signalled;  // in no order
    std::vector<pid_t> listed;     // likewise; this program is not among them
    // Closing a pidfd takes as long as signalling: these, of the first batches, are closed by who has the time.
    std::vector<HeldProcess> to_close;
    bool moved = false;            // a process left the cgroup that listed it, and may be alive
    bool cut = false;              // the time was up before all cgroups were visited
    MonotonicTime last_signal{};   // when the last signal was sent; zero: none was
    std::optional<Error> trouble;  // the first refusal: not all were signalled. `vanished`: the pod's cgroup is gone.

    // Every process that there was took the signal, as far as one walk can tell.
    [[nodiscard]] bool whole() const { return !moved && !cut && !trouble; }
};

// Opens a pidfd for each process that a cgroup lists, lists that cgroup again and signals those that are still in it:
// what a pidfd refers to then was in the cgroup while we held it. This program is never signalled. Where there are too
// few descriptors for a batch it is signalled in parts.
[[nodiscard]] Struck strike(const port::PodCgroup& cgroup, const Strike& strike, const sys::Clock& clock);

// Without a descriptor: it has ended, or there is none left.
[[nodiscard]] HeldProcess hold(pid_t pid);

// process_mrelease(2): the dying process's memory comes back now, not when it gets scheduled to exit. Blocks while it
// frees (some 50 us a MiB). Older kernels than 5.15 do not know it. False: the process is not dying yet.
bool release_memory(const HeldProcess& process);

}  // namespace evictd::act
