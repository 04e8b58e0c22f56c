// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/hierarchies.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <sstream>

#include <libcgroup.h>
#include <linux/magic.h>
#include <sys/statfs.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"
#include "sys/mount_info.hpp"

namespace evictd::kernel {
namespace {

constexpr std::size_t proc_limit = 1U << 20U;
constexpr std::size_t mountinfo_limit = 4U << 20U;

std::string mount_point_of(const char* controller) {
    char* path = nullptr;
    if (cgroup_get_subsys_mount_point(controller, &path) != 0 || path == nullptr) {
        return {};
    }
    std::string result(path);
    std::free(path);  // NOLINT(*-no-malloc): libcgroup hands over what it strdup'ed
    return result;
}

bool is_v2(const std::string& path) {
    struct statfs fs {};
    return !path.empty() && statfs(path.c_str(), &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

// The v2 hierarchy's usual places; libcgroup knows it only where it has controllers.
std::string find_unified() {
    for (const char* path : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        if (is_v2(path)) {
            return path;
        }
    }
    return {};
}

// /proc/cgroups: "name hierarchy num_cgroups enabled".
std::uint32_t memory_hierarchy_id() {
    auto text = sys::read_file("/proc/cgroups", proc_limit);
    std::istringstream lines(text ? *text : std::string{});
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string name;
        std::uint32_t hierarchy = 0;
        if (words >> name >> hierarchy && name == "memory") {
            return hierarchy;
        }
    }
    return 0;
}

std::vector<sys::MountInfo> cgroup_mounts(std::string_view mountinfo) {
    std::vector<sys::MountInfo> mounts;
    sys::each_mount(mountinfo, [&](const sys::MountInfo& mount) {
        if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(mount);
        return true;
    });
    return mounts;
}

}  // namespace

std::vector<std::string> hierarchy_mounts(std::string_view mountinfo, const std::string& memory) {
    const auto mounts = cgroup_mounts(mountinfo);
    const auto main = std::find_if(mounts.begin(), mounts.end(), [&](const auto& one) { return one.place == memory; });
    std::vector<std::string> places;
    if (main == mounts.end()) return {memory};
    std::set<std::string_view> devices{main->device};
    for (const auto& one : mounts) {
        if (one.root == main->root && devices.insert(one.device).second) places.emplace_back(one.place);
    }
    places.push_back(memory);
    return places;
}

Result<std::vector<std::string>> hierarchy_mounts(const Hierarchies& hierarchies) {
    if (hierarchies.v2) return std::vector{hierarchies.memory};
    const auto mountinfo = sys::read_file("/proc/self/mountinfo", mountinfo_limit);
    if (!mountinfo) return tl::unexpected(mountinfo.error());
    return hierarchy_mounts(*mountinfo, hierarchies.memory);
}

std::string Hierarchies::layout() const {
    if (v2) {
        return "v2";
    }
    return unified.empty() ? "v1" : "hybrid";
}

Result<Hierarchies> find_hierarchies() {
    errno = 0;
    if (const int error = cgroup_init(); error != 0) {
        const int left = errno;  // libcgroup does not keep it of every call
        const int last = cgroup_get_last_errno();
        if (const int number = last != 0 ? last : left; error == ECGOTHER && number != 0) {
            return sys::fail_errno("cgroups", number);
        }
        return fail(ErrorKind::failed, "cgroups", cgroup_strerror(error), "mount a cgroup hierarchy, as systemd does");
    }
    Hierarchies found;
    found.memory = mount_point_of("memory");
    found.unified = find_unified();
    if (found.memory.empty()) {
        return fail(ErrorKind::failed, "cgroups", "no memory controller is mounted",
                    "boot without cgroup_disable=memory, and mount cgroup2 or the v1 memory controller");
    }
    found.v2 = is_v2(found.memory);
    if (!found.v2) {
        found.freezer = mount_point_of("freezer");
        found.pids = mount_point_of("pids");
        found.memory_id = memory_hierarchy_id();
    }
    return found;
}

}  // namespace evictd::kernel
