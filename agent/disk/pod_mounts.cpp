// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pod_mounts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <set>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "evictd/model/text.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::disk {
namespace {

constexpr std::size_t most_mountinfo = std::size_t{4} << 20U;  // some 13,000 mounts
// All processes together: other garbage waits meanwhile.
constexpr Duration longest_look = std::chrono::seconds(2);
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

// A task that has ended has no namespaces any more, nor has a zombie.
bool has_ended(const std::string& task) {
    return link_target(task + "/ns/mnt").empty() && (errno == ENOENT || errno == ESRCH);
}

// Where what the process has is shown: itself, or, where its first thread has ended before others, one of those. Empty:
// all of it has ended.
std::string living_task(const std::string& process) {
    if (!has_ended(process)) return process;
    const auto threads = processes_in(process + "/task");
    for (const auto& thread : threads ? *threads : std::vector<std::string>()) {
        auto task = path_in(process + "/task", thread);
        if (!has_ended(task)) return task;
    }
    return {};
}

bool is_same_directory(const std::string& a, const std::string& b) {
    struct stat of_a {};
    struct stat of_b {};
    return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

// Without hostPID process 1 is the container's own, or the pause container's, and its mounts are not the node's. In a
// node that is itself a container it is the node's, whose pods are ours.
Status check_sees_node(const RemainsPlaces& places) {
    if (link_target(places.proc + "/self/ns/pid") == first_pid_namespace) return {};
    const auto mounts = link_target(places.proc + "/self/ns/mnt");
    const auto of_first = link_target(places.proc + "/1/ns/mnt");
    const bool is_apart = !mounts.empty() && !of_first.empty() && mounts != of_first;
    if (is_apart && is_same_directory(places.proc + "/1/root" + places.pods, places.pods)) return {};
    return tl::unexpected(unseen(places.proc, "the node's processes and mounts cannot be seen"));
}

// That something is mounted may pass: whoever mounted it ends, or the node restarts. Read anew for each pod, not once a
// pass: it is the last look before its directory goes, and something may be mounted in between. All of it is bounded by
// `longest_look`, and a pod whose mounts take longer to read stays.
Status check_mounts_of(const std::string& process, const PodUid& pod) {
    const auto mountinfo = sys::read_file(process + "/mountinfo", most_mountinfo);
    if (!mountinfo && has_ended(process)) return {};
    if (!mountinfo) return fail(ErrorKind::failed, mountinfo.error().what, mountinfo.error().why);
    if (mountinfo->find(pod.value) == std::string::npos) return {};
    return fail(ErrorKind::failed, pod.value, "something of it is mounted, as " + process + "/mountinfo shows");
}

// What a task shows: the mounts of its namespace below its root. The links may not be readable where the mounts are.
std::string view_of(const std::string& task) {
    auto mounts = link_target(task + "/ns/mnt");
    return mounts.empty() ? mounts : mounts + link_target(task + "/root");
}

Status check_all_mounts(const std::string& proc, const std::vector<std::string>& pids, const PodUid& pod) {
    const auto until = std::chrono::steady_clock::now() + longest_look;
    std::set<std::string> seen;
    for (const auto& pid : pids) {
        const auto task = living_task(path_in(proc, pid));
        if (task.empty()) continue;
        const auto view = view_of(task);
        if (seen.contains(view)) continue;
        if (std::chrono::steady_clock::now() > until) {
            return fail(ErrorKind::failed, proc, "there are too many mounts to look at all");
        }
        if (auto unmounted = check_mounts_of(task, pod); !unmounted) return unmounted;
        // Only now: one that ended just then has shown nothing of what others share with it.
        if (!view.empty() && view_of(task) == view) seen.insert(view);
    }
    return {};
}

}  // namespace

Result<std::string> process_in_pod(const RemainsPlaces& places, const PodUid& pod) {
    if (auto sees = check_sees_node(places); !sees) return tl::unexpected(sees.error());
    const auto pids = processes_in(places.proc);
    if (!pids) return tl::unexpected(pids.error());
    auto of_systemd = pod.value;
    std::replace(of_systemd.begin(), of_systemd.end(), '-', '_');
    for (const auto& pid : *pids) {
        const auto process = path_in(places.proc, pid);
        const auto task = living_task(process);
        const auto cgroups = sys::read_file((task.empty() ? process : task) + "/cgroup", most_cgroups);
        if (!cgroups && cgroups.error().kind == ErrorKind::vanished) continue;
        if (!cgroups) return tl::unexpected(cgroups.error());
        const bool is_in =
            cgroups->find(pod.value) != std::string::npos || cgroups->find(of_systemd) != std::string::npos;
        if (is_in) return "process " + pid + " is in its cgroup";
    }
    return std::string();
}

Status check_unmounted(const RemainsPlaces& places, const PodUid& pod) {
    if (auto sees = check_sees_node(places); !sees) return sees;
    auto pids = processes_in(places.proc);
    if (!pids) return fail(ErrorKind::failed, pids.error().what, pids.error().why);
    // Both first: they are there in any case.
    for (const char* pid : {"self", "1"}) {
        const auto process = path_in(places.proc, pid);
        if (has_ended(process)) return tl::unexpected(unseen(process, "its mounts cannot be seen"));
        if (auto unmounted = check_mounts_of(process, pod); !unmounted) return unmounted;
    }
    return check_all_mounts(places.proc, *pids, pod);
}

}  // namespace evictd::disk
