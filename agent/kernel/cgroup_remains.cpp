// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_remains.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "evictd/model/log_names.hpp"
#include "evictd/model/text.hpp"
#include "kernel/cgroup_walk.hpp"
#include "kernel/empty_cgroups.hpp"
#include "kernel/pod_name.hpp"
#include "sys/clock.hpp"
#include "sys/open_below.hpp"

namespace evictd::kernel {
namespace {

constexpr std::string_view populated_line = "populated 0";
constexpr const char* in_use = "a process is in it";

// Another call would not remove it either: the mount is read-only, or a right is missing.
bool is_forbidden(int error) { return error == EROFS || error == EACCES || error == EPERM; }

tl::unexpected<Error> failed(const std::string& path, int error) {
    auto why = sys::fail_errno(printable(path), error).value();
    why.kind = is_forbidden(error) ? ErrorKind::invalid : ErrorKind::failed;
    return tl::unexpected(std::move(why));
}

// A pod's own, as the kubelet makes them: below a root, at most a QoS class in between, which is no pod's.
bool is_pods_own(const PodUid& pod, const std::string& path, const std::vector<std::string>& roots) {
    const auto is_root_of = [&](const std::string& root) { return path.starts_with(root + "/"); };
    const auto root = std::find_if(roots.begin(), roots.end(), is_root_of);
    if (root == roots.end()) return false;
    std::string_view below(path);
    below.remove_prefix(root->size() + 1);
    if (const auto slash = below.find('/'); slash != std::string_view::npos) {
        const auto qos = below.substr(0, slash);
        below.remove_prefix(slash + 1);
        if (!is_plain_name(qos) || pod_uid_of(qos)) return false;
    }
    return is_plain_name(below) && pod_uid_of(below) == pod;
}

bool is_v2(const sys::Fd& directory) {
    struct statfs status {};
    return ::fstatfs(directory.get(), &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
}

// The first 4 KiB; empty: the file is. 0 or errno.
int read_start(int directory, const char* name, std::string& text) {
    const auto file = sys::open_below(directory, name, O_RDONLY, sys::Mounts::refuse);
    if (!file) return errno;
    text.resize(4096);
    ssize_t size = -1;
    do {
        size = ::read(file.get(), text.data(), text.size());
    } while (size < 0 && errno == EINTR);
    if (size < 0) return errno;
    text.resize(static_cast<std::size_t>(size));
    return 0;
}

// v1 has no count of a subtree, so that each list in it is read. Threads may be in other cgroups than their process.
Result<std::string> life_in_v1(const sys::Fd& top, const std::string& path, MonotonicTime deadline) {
    const sys::SystemClock clock;
    bool any = false;
    int error = 0;
    const auto walked = walk_cgroups(top.get(), [&](int directory) {
        if (clock.monotonic() > deadline) error = ETIMEDOUT;
        for (const char* name : {"cgroup.procs", "tasks"}) {
            std::string text;
            if (error == 0) error = read_start(directory, name, text);
            any = any || !text.empty();
        }
        if (error == ENOENT || error == ENODEV) error = 0;  // it was removed meanwhile
        return any || error != 0 ? Walk::stop : Walk::on;
    });
    if (any) return std::string(in_use);
    if (error != 0) return failed(path, error);
    if (!walked) return fail(ErrorKind::failed, printable(path), walked.error().text());
    return std::string();
}

Result<std::string> life_in(const sys::Fd& top, const std::string& path, MonotonicTime deadline) {
    if (!is_v2(top)) return life_in_v1(top, path, deadline);
    std::string text;
    const int error = read_start(top.get(), "cgroup.events", text);
    if (error == ENODEV) return std::string();  // it was removed meanwhile
    if (error != 0) return failed(path, error);
    const auto at = text.find(populated_line);
    const bool is_empty = at != std::string::npos && (at == 0 || text[at - 1] == '\n');
    return std::string(is_empty ? "" : in_use);
}

}  // namespace

// Vanished: it is in none of the hierarchies. An error in one of them is returned: it may be there.
Result<std::vector<CgroupRemains::Place>> CgroupRemains::open(const PodUid& pod, const std::string& path) const {
    if (!is_pods_own(pod, path, roots_)) {
        return fail(ErrorKind::invalid, printable(path), "is no cgroup of that pod below the pods' root");
    }
    const auto slash = path.rfind('/');
    const std::string parent = path.substr(1, slash - 1);
    const std::string name = path.substr(slash + 1);
    std::vector<Place> places;
    for (const auto& mount : mounts_) {
        const auto top = sys::open(mount, directory_flags);
        if (!top) return tl::unexpected(top.error());
        Place place{sys::open_directory_below(top->get(), parent.c_str(), sys::Mounts::refuse), {}};
        if (place.parent) {
            place.cgroup = sys::open_directory_below(place.parent.get(), name.c_str(), sys::Mounts::refuse);
        }
        if (place.cgroup) {
            places.push_back(std::move(place));
        } else if (errno != ENOENT) {
            return failed(path, errno);
        }
    }
    if (places.empty()) return fail(ErrorKind::vanished, printable(path), "is not there");
    return places;
}

Result<std::string> CgroupRemains::life_in_all(const std::vector<Place>& places, const std::string& path) const {
    const auto deadline = sys::SystemClock().monotonic() + longest_removal_;
    for (const auto& place : places) {
        auto life = life_in(place.cgroup, path, deadline);
        if (!life || !life->empty()) return life;
    }
    return std::string();
}

Result<std::string> CgroupRemains::life(const PodUid& pod, const std::string& path) {
    const auto places = open(pod, path);
    return places ? life_in_all(*places, path) : tl::unexpected(places.error());
}

Status CgroupRemains::remove(const PodUid& pod, const std::string& path) {
    const auto places = open(pod, path);
    const auto life = places ? life_in_all(*places, path) : tl::unexpected(places.error());
    if (!life) return tl::unexpected(life.error());
    if (!life->empty()) return fail(ErrorKind::failed, printable(path), *life);
    const sys::SystemClock clock;
    const auto deadline = clock.monotonic() + longest_removal_;
    const auto name = path.substr(path.rfind('/') + 1);
    for (const auto& place : *places) {
        const int error = remove_empty_cgroups(place.parent.get(), name, clock, deadline);
        if (error == ETIMEDOUT) {
            return fail(ErrorKind::exhausted, printable(path),
                        "has more cgroups below it than one removal takes; the next removal goes on with the rest");
        }
        if (error != 0) return failed(path, error);
    }
    return {};
}

}  // namespace evictd::kernel
