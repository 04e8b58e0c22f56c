// SPDX-License-Identifier: Apache-2.0
#include "act/signals.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

namespace evictd::act {
namespace {

// glibc 2.36 has wrappers for two of the three; the numbers are the same on every architecture.
int pidfd_open(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0U)); }
int pidfd_send_signal(int pidfd, int signal_number) {
    return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal_number, nullptr, 0U));
}

}  // namespace

Result<std::vector<sys::Fd>> hold_processes(const port::PodCgroup& cgroup) {
    auto before = cgroup.processes();
    if (!before) {
        return tl::unexpected(before.error());
    }
    std::vector<std::pair<pid_t, sys::Fd>> opened;
    opened.reserve(before->size());
    for (const pid_t pid : *before) {
        if (pid == getpid()) {
            continue;
        }
        if (sys::Fd process(pidfd_open(pid)); process) {
            opened.emplace_back(pid, std::move(process));
        }
    }
    auto after = cgroup.processes();
    if (!after) {
        return tl::unexpected(after.error());
    }
    std::sort(after->begin(), after->end());
    std::vector<sys::Fd> held;
    held.reserve(opened.size());
    for (auto& [pid, process] : opened) {
        if (std::binary_search(after->begin(), after->end(), pid)) {
            held.push_back(std::move(process));
        }
    }
    return held;
}

Result<int> signal_all(const std::vector<sys::Fd>& processes, int signal_number) {
    int signalled = 0;
    int refused = 0;
    for (const auto& process : processes) {
        if (pidfd_send_signal(process.get(), signal_number) == 0) {
            signalled++;
        } else if (errno != ESRCH && refused == 0) {
            refused = errno;
        }
    }
    if (refused != 0) {
        return sys::fail_errno("signal " + std::to_string(signal_number), refused, "run as root with CAP_KILL");
    }
    return signalled;
}

void release_memory(const sys::Fd& process) {
#ifdef SYS_process_mrelease
    (void)syscall(SYS_process_mrelease, process.get(), 0U);  // best effort: the process's own exit frees it as well
#else
    (void)process;
#endif
}

}  // namespace evictd::act
