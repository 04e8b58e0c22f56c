// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pod_mounts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/limits.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "evictd/model/text.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::disk {
namespace {

constexpr std::size_t most_mountinfo = std::size_t{32} << 20U;  // some 100,000 mounts
constexpr std::size_t most_cgroups = std::size_t{1} << 20U;
// PROC_PID_INIT_INO of the kernel.
constexpr std::string_view first_pid_namespace = "pid:[4026531836]";

std::string path_in(const std::string& directory, std::string_view name) {
    std::string path = directory;
    path += '/';
    path += name;
    return path;
}

Error unseen(const std::string& what, const std::string& why) {
    return {ErrorKind::invalid, what, why, "hostPID, where evictd runs in a container"};
}

Result<std::vector<std::string>> processes_in(const std::string& proc) {
    const auto directory = sys::open(proc, O_RDONLY | O_DIRECTORY);
    if (!directory) return tl::unexpected(directory.error());
    std::vector<std::string> pids;
    EntryReader reader;
    while (true) {
        if (const int error = reader.read(directory->get(), false); error != 0) return sys::fail_errno(proc, error);
        if (reader.entries().empty()) return pids;
        for (const auto& entry : reader.entries()) {
            const std::string_view name(entry.name);
            const bool is_pid = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
            if (is_pid) pids.emplace_back(name);
        }
    }
}

// Empty: there is no such process, or it has none any more; errno says why.
std::string link_target(const std::string& path) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
    return size < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
}

// A process that has ended has no namespaces any more, nor has a zombie.
bool has_ended(const std::string& process) {
    return link_target(process + "/ns/mnt").empty() && (errno == ENOENT || errno == ESRCH);
}

// Without hostPID process 1 is the container's own, and its mounts are not the node's.
Status check_sees_node(const std::string& proc) {
    if (link_target(proc + "/self/ns/pid") == first_pid_namespace) return {};
    const auto mounts = link_target(proc + "/self/ns/mnt");
    const auto of_first = link_target(proc + "/1/ns/mnt");
    if (!mounts.empty() && !of_first.empty() && mounts != of_first) return {};
    return tl::unexpected(unseen(proc, "the node's mounts cannot be seen"));
}

Status check_mounts_of(const std::string& process, const PodUid& pod) {
    const auto mountinfo = sys::read_file(process + "/mountinfo", most_mountinfo);
    if (!mountinfo && has_ended(process)) return {};
    if (!mountinfo) return tl::unexpected(unseen(mountinfo.error().what, mountinfo.error().why));
    if (mountinfo->find(pod.value) == std::string::npos) return {};
    return fail(ErrorKind::invalid, pod.value, "something of it is mounted, as " + process + "/mountinfo shows");
}

}  // namespace

Result<std::string> process_in_pod(const std::string& proc, const PodUid& pod) {
    const auto pids = processes_in(proc);
    if (!pids) return tl::unexpected(pids.error());
    auto of_systemd = pod.value;
    std::replace(of_systemd.begin(), of_systemd.end(), '-', '_');
    for (const auto& pid : *pids) {
        const auto cgroups = sys::read_file(path_in(proc, pid) + "/cgroup", most_cgroups);
        if (!cgroups && cgroups.error().kind == ErrorKind::vanished) continue;
        if (!cgroups) return tl::unexpected(cgroups.error());
        const bool is_in =
            cgroups->find(pod.value) != std::string::npos || cgroups->find(of_systemd) != std::string::npos;
        if (is_in) return "process " + pid + " is in its cgroup";
    }
    return std::string();
}

Status check_unmounted(const std::string& proc, const PodUid& pod) {
    if (auto sees = check_sees_node(proc); !sees) return sees;
    auto pids = processes_in(proc);
    if (!pids) return tl::unexpected(unseen(pids.error().what, pids.error().why));
    // Both first: they are there in any case.
    for (const char* pid : {"self", "1"}) {
        const auto process = path_in(proc, pid);
        if (has_ended(process)) return tl::unexpected(unseen(process, "its mounts cannot be seen"));
        if (auto unmounted = check_mounts_of(process, pod); !unmounted) return unmounted;
    }
    std::set<std::string> seen;  // namespaces; the link may not be readable where the mounts are
    for (const auto& pid : *pids) {
        const auto process = path_in(proc, pid);
        const auto mounts = link_target(process + "/ns/mnt");
        if (seen.contains(mounts) || has_ended(process)) continue;
        if (auto unmounted = check_mounts_of(process, pod); !unmounted) return unmounted;
        // Only now: one that ended just then has shown nothing of what others share with it.
        if (!mounts.empty() && link_target(process + "/ns/mnt") == mounts) seen.insert(mounts);
    }
    return {};
}

}  // namespace evictd::disk
