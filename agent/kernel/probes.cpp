// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/probes.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

constexpr std::size_t proc_file_limit = 1U << 20U;

// Numbers younger than Debian 12's headers do not occur here: CAP_BPF is of 5.8.
struct Capability {
    unsigned bit;
    std::string_view name;
};
constexpr std::array<Capability, 9> used_capabilities{{
    {CAP_BPF, "CAP_BPF"},
    {CAP_PERFMON, "CAP_PERFMON"},
    {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
    {CAP_KILL, "CAP_KILL"},
    {CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE"},
    {CAP_SYS_NICE, "CAP_SYS_NICE"},
    {CAP_IPC_LOCK, "CAP_IPC_LOCK"},
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
    {CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
}};

int exists(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? 0 : errno;
}

int write_to(const std::string& path, const std::string& text) {
    const sys::Fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file) {
        return errno;
    }
    return ::write(file.get(), text.data(), text.size()) < 0 ? errno : 0;
}

}  // namespace

int probe_pidfd() {
    const sys::Fd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0U)));
    return self ? 0 : errno;
}

int probe_process_mrelease() {
#ifdef SYS_process_mrelease
    // No process is behind it: a kernel that knows the call says EBADF.
    return syscall(SYS_process_mrelease, -1, 0U) == 0 || errno == EBADF ? 0 : errno;
#else
    return ENOSYS;
#endif
}

int probe_realtime(int priority) {
    sched_param before{};
    const int policy = sched_getscheduler(0);
    (void)sched_getparam(0, &before);
    sched_param wanted{};
    wanted.sched_priority = priority;
    if (sched_setscheduler(0, SCHED_FIFO, &wanted) != 0) {
        return errno;
    }
    return sched_setscheduler(0, policy, &before) == 0 ? 0 : errno;
}

int probe_memory_lock() {
    if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        return errno;
    }
    (void)munlockall();
    return 0;
}

int probe_lower_oom_score() {
    constexpr const char* path = "/proc/self/oom_score_adj";
    const auto before = sys::read_file(path, proc_file_limit);
    int score = 0;
    if (!before || std::from_chars(before->data(), before->data() + before->size(), score).ec != std::errc() ||
        score <= -1000) {
        return before ? 0 : ENOENT;
    }
    const int error = write_to(path, std::to_string(score - 1));
    (void)write_to(path, std::to_string(score));
    return error;
}

// A tenth of the window stalled; the trigger goes with its descriptor, before it could fire.
int probe_pressure_trigger(std::chrono::microseconds window) {
    // The kernel takes the last byte for the end of the text, whatever it is.
    return write_to("/proc/pressure/memory", fmt::format("some {} {}\n", window.count() / 10, window.count()));
}

int probe_cgroup_file(const Hierarchies& hierarchies, const std::string& file) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(hierarchies.memory, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code ignored;
        if (it->is_directory(ignored)) {
            return exists(it->path().string() + "/" + file);
        }
    }
    const std::string made = hierarchies.memory + "/evictd-doctor." + std::to_string(getpid());
    if (mkdir(made.c_str(), 0700) != 0) {
        return errno;
    }
    const int found = exists(made + "/" + file);
    (void)rmdir(made.c_str());
    return found;
}

std::vector<std::string_view> missing_capabilities() {
    std::uint64_t held = 0;
    if (const auto status = sys::read_file("/proc/self/status", proc_file_limit)) {
        constexpr std::string_view key = "CapEff:\t";
        const auto at = status->find(key);
        if (at != std::string::npos) {
            const char* begin = status->data() + at + key.size();
            (void)std::from_chars(begin, status->data() + status->size(), held, 16);
        }
    }
    std::vector<std::string_view> missing;
    for (const auto& capability : used_capabilities) {
        if ((held >> capability.bit & 1U) == 0) {
            missing.push_back(capability.name);
        }
    }
    return missing;
}

bool is_bpf_filesystem(const std::string& path) {
    struct statfs fs {};
    return statfs(path.c_str(), &fs) == 0 && static_cast<std::uint32_t>(fs.f_type) == BPF_FS_MAGIC;
}

}  // namespace evictd::kernel
