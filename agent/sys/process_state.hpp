// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which process it is, and whether it can still act. A process that was killed can hold locks, sockets and descriptors
// for a while: until the last of its threads has left the kernel.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace evictd::sys {

// Of one pid namespace and boot. Start times tell processes apart that had the same pid one after the other.
struct ProcessIdentity {
    pid_t pid = 0;
    std::uint64_t started = 0;        // clock ticks since the boot
    std::uint64_t pid_namespace = 0;  // the inode of /proc/self/ns/pid
    friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

[[nodiscard]] ProcessIdentity this_process();

enum class ProcessState {
    gone,     // no thread of it is left, or the pid is another process's now
    ending,   // it was killed, or it is exiting: none of its threads returns to user space
    running,  // or nothing is known, which has to count as running
};

// What /proc says now. A process of another pid namespace is always `running`: its pid means nothing here.
[[nodiscard]] ProcessState state_of(const ProcessIdentity& process);
// Of whichever process has this pid now.
[[nodiscard]] ProcessState state_of(pid_t pid);

}  // namespace evictd::sys
