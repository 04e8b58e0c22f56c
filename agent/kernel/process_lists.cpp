// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/process_lists.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sched.h>

#include "kernel/cgroup_walk.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

Result<std::vector<pid_t>> list_numbers(int directory, const char* name) {
    const auto file = sys::openat(directory, name, O_RDONLY);
    if (!file) {
        return tl::unexpected(file.error());
    }
    std::vector<pid_t> pids;
    auto read = read_pids(file->get(), [&](int pid) {
        pids.push_back(pid);
        return Walk::on;
    });
    return read ? Result<std::vector<pid_t>>(std::move(pids)) : tl::unexpected(read.error());
}

void sort_unique(std::vector<pid_t>& pids) {
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
}

// "Tgid:\t123" of /proc/PID/status. None: it ended, or the file cannot be read.
Result<pid_t> process_of(pid_t thread) {
    const auto file = sys::open("/proc/" + std::to_string(thread) + "/status", O_RDONLY);
    const auto text = file ? sys::read_all(file->get(), sys::control_file_limit) : tl::unexpected<Error>(file.error());
    if (!text) {
        return tl::unexpected(text.error());
    }
    const auto at = text->find("\nTgid:");
    return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(text->c_str() + at + 6, nullptr, 10));
}

}  // namespace

Result<std::string> read_file_at(int directory, const char* name) {
    const auto file = sys::openat(directory, name, O_RDONLY);
    return file ? sys::read_all(file->get(), sys::control_file_limit) : tl::unexpected<Error>(file.error());
}

Result<std::vector<pid_t>> list_processes(int directory) {
    auto pids = list_numbers(directory, "cgroup.procs");
    // Strictly ascending, as a rule: the kernel may list a process twice.
    if (pids && std::adjacent_find(pids->begin(), pids->end(), std::greater_equal<>()) != pids->end()) {
        sort_unique(*pids);
    }
    return pids;
}

Result<std::vector<pid_t>> list_by_threads(int directory) {
    auto threads = list_numbers(directory, "cgroup.threads");
    if (!threads) {
        return threads;
    }
    std::vector<pid_t> pids;
    for (const pid_t thread : *threads) {
        const auto pid = process_of(thread);
        if (pid && *pid > 0) {
            pids.push_back(*pid);
        } else if (!pid && pid.error().kind != ErrorKind::vanished) {
            return tl::unexpected(pid.error());
        }
    }
    sort_unique(pids);
    return pids;
}

std::optional<std::string> memory_cgroup_in(const std::string& proc_cgroup, bool v2) {
    std::istringstream lines(proc_cgroup);
    std::string line;
    while (std::getline(lines, line)) {
        const auto controllers = line.find(':');
        const auto path = controllers == std::string::npos ? controllers : line.find(':', controllers + 1);
        if (path == std::string::npos) {
            continue;
        }
        const auto list = "," + line.substr(controllers + 1, path - controllers - 1) + ",";
        if (v2 ? line.starts_with("0::") : list.find(",memory,") != std::string::npos) {
            return line.substr(path + 1);
        }
    }
    return std::nullopt;
}

std::optional<std::string> own_cgroup_of_host(bool v2) {
    std::optional<std::string> path;
    const auto enter = [&] {
        const auto host = sys::open("/proc/1/ns/cgroup", O_RDONLY);
        if (host && setns(host->get(), CLONE_NEWCGROUP) == 0) {
            path = own_cgroup(v2);
        }
    };
    try {
        std::thread(enter).join();
    } catch (const std::system_error&) {
        return std::nullopt;  // pids.max or memory does not allow one
    }
    return path;
}

// A thread's own: it may be in another namespace.
std::optional<std::string> own_cgroup(bool v2) {
    const auto file = sys::open("/proc/thread-self/cgroup", O_RDONLY);
    const auto text = file ? sys::read_all(file->get(), sys::control_file_limit) : tl::unexpected<Error>(file.error());
    return text ? memory_cgroup_in(*text, v2) : std::nullopt;
}

}  // namespace evictd::kernel
