// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/process_state.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::sys {
namespace {

constexpr std::size_t proc_limit = std::size_t{1} << 16U;
constexpr std::uint64_t exiting = 0x4;  // PF_EXITING of linux/sched.h, in field 9 of /proc/PID/stat

struct Stat {
    char state = '?';
    std::uint64_t flags = 0;
    std::uint64_t started = 0;
};

// proc(5): the name, which may contain anything, ends with the last ')'.
std::optional<Stat> read_stat(const std::string& directory) {
    const auto text = read_file(directory + "/stat", proc_limit);
    const auto end = text ? text->rfind(')') : std::string::npos;
    if (end == std::string::npos) {
        return std::nullopt;
    }
    std::istringstream words(text->substr(end + 1));
    Stat stat;
    std::string skipped;
    words >> stat.state;
    for (int field = 4; field <= 8; field++) words >> skipped;
    words >> stat.flags;
    for (int field = 10; field <= 21; field++) words >> skipped;
    words >> stat.started;
    return words ? std::optional(stat) : std::nullopt;
}

// SIGKILL is taken before the thread returns to user space.
bool is_killed(const std::string& directory) {
    std::istringstream lines(read_file(directory + "/status", proc_limit).value_or(""));
    std::string line;
    while (std::getline(lines, line)) {
        if (line.starts_with("SigPnd:") || line.starts_with("ShdPnd:")) {
            const auto pending = std::strtoull(line.c_str() + 7, nullptr, 16);
            if ((pending & (1ULL << (SIGKILL - 1))) != 0) return true;
        }
    }
    return false;
}

// The pending signals are read before the flags: a thread that takes SIGKILL between the two reads has PF_EXITING set
// by the second.
bool thread_ends(const std::string& directory) {
    if (is_killed(directory)) {
        return true;
    }
    const auto stat = read_stat(directory);
    if (!stat) {
        return ::access(directory.c_str(), F_OK) != 0 && errno == ENOENT;
    }
    return stat->state == 'Z' || stat->state == 'X' || (stat->flags & exiting) != 0;
}

// False also where that cannot be read to the end.
bool all_threads_end(const std::string& directory) {
    const std::string tasks = directory + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(tasks.c_str()), ::closedir);
    int threads = 0;
    errno = 0;
    while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
        if (entry->d_name[0] != '.') {
            threads++;
            if (!thread_ends(tasks + "/" + entry->d_name)) return false;
        }
        errno = 0;
    }
    return threads > 0 && errno == 0;
}

std::uint64_t own_pid_namespace() {
    struct stat status {};
    return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace

ProcessIdentity this_process() {
    const auto stat = read_stat("/proc/self");
    return {::getpid(), stat ? stat->started : 0, own_pid_namespace()};
}

ProcessState state_of(pid_t pid) {
    const auto is_gone = [pid] { return ::kill(pid, 0) != 0 && errno == ESRCH; };
    if (pid <= 0) {
        return ProcessState::running;
    }
    if (!is_gone() && all_threads_end("/proc/" + std::to_string(pid))) {
        return ProcessState::ending;
    }
    return is_gone() ? ProcessState::gone : ProcessState::running;
}

ProcessState state_of(const ProcessIdentity& process) {
    if (process.pid <= 0 || process.pid_namespace == 0 || process.pid_namespace != own_pid_namespace()) {
        return ProcessState::running;
    }
    const auto stat = read_stat("/proc/" + std::to_string(process.pid));
    if (stat && process.started != 0 && stat->started != process.started) {
        return ProcessState::gone;
    }
    return state_of(process.pid);
}

}  // namespace evictd::sys
