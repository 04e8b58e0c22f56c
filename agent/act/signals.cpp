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

Result<std::vector<HeldProcess>> hold_processes(const port::PodCgroup& cgroup, const std::vector<pid_t>& listed) {
    std::vector<HeldProcess> held;
    held.reserve(listed.size());
    int refused = 0;
    for (const pid_t pid : listed) {
        if (pid == getpid()) {
            continue;
        }
        if (sys::Fd pidfd(pidfd_open(pid)); pidfd) {
            held.push_back({pid, std::move(pidfd)});
        } else if (errno != ESRCH) {
            refused = errno;
        }
    }
    if (held.empty()) {
        return refused == 0 ? Result<std::vector<HeldProcess>>() : sys::fail_errno("pidfd_open", refused);
    }
    auto still = cgroup.processes();
    if (!still) {
        return tl::unexpected(still.error());
    }
    std::sort(still->begin(), still->end());
    std::erase_if(held, [&](const HeldProcess& process) {
        return !std::binary_search(still->begin(), still->end(), process.pid);
    });
    return held;
}

Result<int> signal_all(const std::vector<HeldProcess>& processes, int signal_number) {
    int signalled = 0;
    int refused = 0;
    for (const auto& process : processes) {
        if (pidfd_send_signal(process.pidfd.get(), signal_number) == 0) {
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

void release_memory(const HeldProcess& process) {
#ifdef SYS_process_mrelease
    (void)syscall(SYS_process_mrelease, process.pidfd.get(),
                  0U);  // best effort: the process's own exit frees it as well
#else
    (void)process;
#endif
}

}  // namespace evictd::act
