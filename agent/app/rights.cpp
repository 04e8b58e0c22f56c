// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// capset(2) itself: with one set of bits and no names to parse, a library would only add itself to what runs as root.
#include "app/rights.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::app {
namespace {

// Tried as a set on 6.18. CAP_SYS_ADMIN is not among them: it is for loading on kernels before 5.8, and for asking for
// BPF objects by number, which only a start and an end do. Nor is it kept for the files that it would open beyond
// fs.file-max (ENFILE): an attacker who took over evictd would be root with it. systemd raises that limit to the
// largest number there is; on a host without it a pod may take every file, and then only what is held open already is
// of use.
constexpr std::array kept_capabilities{
    CAP_BPF,           // maps and links made later: programs attached while memory is short
    CAP_PERFMON,       // likewise, of tracepoints
    CAP_KILL,          // processes of any user
    CAP_SYS_PTRACE,    // the sockets of a pod's processes: /proc/PID/fd; and process_mrelease(2)
    CAP_SYS_RESOURCE,  // a lower oom_score_adj; PSI windows under 2 s
    CAP_SYS_NICE,      // urgent lanes; killed processes; the priority that comes back after RLIMIT_RTTIME
    CAP_IPC_LOCK,      // memory that is mapped later is locked as well
    CAP_DAC_OVERRIDE,  // cgroup files that a pod's user was given; manifests that others may not read
};

constexpr std::uint64_t bit(int capability) { return std::uint64_t{1} << static_cast<unsigned>(capability); }

}  // namespace

std::uint64_t needed_rights() {
    std::uint64_t all = 0;
    for (const int capability : kept_capabilities) {
        all |= bit(capability);
    }
    return all;
}

Status keep_needed_rights() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    if (::syscall(SYS_capget, &header, sets.data()) != 0) {
        return sys::fail_errno("capabilities", errno);
    }
    for (std::size_t i = 0; i < sets.size(); i++) {
        const auto needed = static_cast<std::uint32_t>(needed_rights() >> (32 * i));
        sets.at(i).permitted &= needed;  // what a container did not give stays missing
        sets.at(i).effective = sets.at(i).permitted;
        sets.at(i).inheritable = 0;
    }
    if (::syscall(SYS_capset, &header, sets.data()) != 0) {
        return sys::fail_errno("capabilities", errno);
    }
    return {};
}

}  // namespace evictd::app
