// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// libcgroup does the making; reading a counter back is a plain file.
#include "kernel/cgroup_tree.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <libcgroup.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

constexpr std::size_t control_file_size = 65536;

// A killed process leaves its cgroup after its parent has reaped it; memory in its last RCU grace period holds on a
// little longer. 10 s in all: half of it is too short for an emulated machine; double only makes a hopeless case wait.
constexpr int removal_attempts = 2000;
constexpr auto removal_pause = std::chrono::milliseconds(5);

struct FreeGroup {
    void operator()(cgroup* group) const { cgroup_free(&group); }
};
using Group = std::unique_ptr<cgroup, FreeGroup>;

// cgroup_strerror(ECGOTHER) speaks of a last error that nobody may have set: then it says "Success".
std::string reason(int error) {
    if (error == ECGOTHER && cgroup_get_last_errno() != 0) {
        return sys::fail_errno("", cgroup_get_last_errno()).value().why;
    }
    return error == ECGOTHER ? "the kernel refused" : cgroup_strerror(error);
}

tl::unexpected<Error> refused(const std::string& path, const char* what, int error) {
    return fail(ErrorKind::failed, "cgroup " + path, std::string(what) + ": " + reason(error),
                "is the cgroup filesystem writable here?");
}

Group make_group(const std::string& path, const std::vector<std::string>& controllers) {
    Group group(cgroup_new_cgroup(path.c_str()));
    for (const auto& controller : controllers) {
        if (group && cgroup_add_controller(group.get(), controller.c_str()) == nullptr) {
            group.reset();
        }
    }
    return group;
}

// A pod is held by memory; ended through the freezer on v1; counted by pids.
std::vector<std::string> controllers_of(const Hierarchies& hierarchies) {
    std::vector<std::string> controllers{"memory"};
    if (hierarchies.v2) {
        return controllers;
    }
    for (const char* controller : {"freezer", "pids"}) {
        char* mount = nullptr;
        if (cgroup_get_subsys_mount_point(controller, &mount) == 0) {
            controllers.emplace_back(controller);
            std::free(mount);  // NOLINT(*-no-malloc): libcgroup hands over what it strdup'ed
        }
    }
    return controllers;
}

Status set_value(const std::string& path, const char* controller, const std::string& file, const std::string& value) {
    const Group group(cgroup_new_cgroup(path.c_str()));
    auto* part = group ? cgroup_add_controller(group.get(), controller) : nullptr;
    if (part == nullptr || cgroup_add_value_string(part, file.c_str(), value.c_str()) != 0) {
        return fail(ErrorKind::failed, "cgroup " + path, "cannot set " + file);
    }
    if (const int error = cgroup_modify_cgroup(group.get()); error != 0) {
        return refused(path, ("setting " + file).c_str(), error);
    }
    return {};
}

bool is_there(const std::string& path, const std::string& controller) {
    char* mount = nullptr;
    if (cgroup_get_subsys_mount_point(controller.c_str(), &mount) != 0) {
        return false;
    }
    const std::unique_ptr<char, decltype(&std::free)> owner(mount, &std::free);
    std::error_code error;
    return std::filesystem::exists(mount + path, error);
}

// Controllers share a directory where they share a hierarchy (v2, or mounted together), so each goes by itself and one
// that is gone already is fine. Only an empty cgroup goes: libcgroup would move its processes to the parent otherwise.
// Of one that is not empty libcgroup 2.0.2 says success, so that we look.
int delete_empty(const std::string& path, const std::vector<std::string>& controllers) {
    int first_error = 0;
    for (const auto& controller : controllers) {
        const Group group = make_group(path, {controller});
        const int error = group ? cgroup_delete_cgroup_ext(group.get(), CGFLAG_DELETE_EMPTY_ONLY) : ECGFAIL;
        if (first_error == 0 && is_there(path, controller)) {
            first_error = error != 0 ? error : ECGNONEMPTY;
        }
    }
    return first_error;
}

// The number after `key` on a line of its own; with an empty key the first number of the text.
std::optional<std::uint64_t> number_at(const std::string& text, const std::string& key) {
    std::size_t at = 0;
    if (!key.empty()) {
        at = text.starts_with(key + " ") ? 0 : text.find("\n" + key + " ");
        if (at == std::string::npos) {
            return std::nullopt;
        }
        at = text.find(' ', at) + 1;
    }
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), value);
    return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace

Result<CgroupTree> CgroupTree::make(const Hierarchies& hierarchies, const std::string& root) {
    CgroupTree tree(hierarchies, controllers_of(hierarchies), root);
    if (auto created = tree.create(""); !created) {
        return tl::unexpected(created.error());
    }
    return tree;
}

CgroupTree::CgroupTree(CgroupTree&& other) noexcept
    : hierarchies_(std::move(other.hierarchies_)),
      controllers_(std::move(other.controllers_)),
      root_(std::move(other.root_)),
      made_(std::exchange(other.made_, {})) {}

CgroupTree::~CgroupTree() { (void)remove(); }

Status CgroupTree::create(const std::string& path) {
    const std::string full = root_ + path;
    const Group group = make_group(full, controllers_);
    if (!group) {
        return fail(ErrorKind::failed, "cgroup " + full, "out of memory");
    }
    made_.push_back(full);
    if (const int error = cgroup_create_cgroup(group.get(), 1); error != 0) {
        return refused(full, "cannot be made", error);
    }
    return {};
}

Status CgroupTree::limit_memory(const std::string& path, Bytes limit) {
    const std::string full = root_ + path;
    const char* file = hierarchies_.v2 ? "memory.max" : "memory.limit_in_bytes";
    if (auto set = set_value(full, "memory", file, std::to_string(limit.value)); !set) {
        return set;
    }
    // Without swap accounting or swap these are not there, and not needed.
    (void)set_value(full, "memory", hierarchies_.v2 ? "memory.swap.max" : "memory.swappiness", "0");
    const auto text = read(full, "memory.limit_in_bytes", "memory.max");
    const auto taken = text ? number_at(*text, "") : std::nullopt;
    if (!taken || *taken > static_cast<std::uint64_t>(limit.value)) {
        return fail(ErrorKind::failed, "cgroup " + full, "the memory limit does not hold");
    }
    return {};
}

Result<std::vector<std::string>> CgroupTree::directories(const std::string& path) const {
    std::vector<std::string> found;
    for (const auto& controller : controllers_) {
        char* mount = nullptr;
        if (const int error = cgroup_get_subsys_mount_point(controller.c_str(), &mount); error != 0) {
            return refused(root_ + path, ("controller " + controller + " is not mounted").c_str(), error);
        }
        const std::unique_ptr<char, decltype(&std::free)> owner(mount, &std::free);
        found.push_back(mount + root_ + path);
    }
    return found;
}

Result<std::string> CgroupTree::read(const std::string& path, const char* v1, const char* v2) const {
    return sys::read_file(hierarchies_.memory + path + "/" + (hierarchies_.v2 ? v2 : v1), control_file_size);
}

Result<Bytes> CgroupTree::usage(const std::string& path) const {
    const auto text = read(root_ + path, "memory.usage_in_bytes", "memory.current");
    if (!text) {
        return tl::unexpected(text.error());
    }
    return Bytes{static_cast<std::int64_t>(number_at(*text, "").value_or(0))};
}

// v2's memory.events counts what is below, too; v1's memory.oom_control speaks of its own cgroup only.
Result<std::uint64_t> CgroupTree::oom_kills() const {
    std::uint64_t kills = 0;
    for (const auto& path : made_) {
        const auto text = read(path, "memory.oom_control", "memory.events");
        if (!text) {
            return tl::unexpected(text.error());
        }
        kills += number_at(*text, "oom_kill").value_or(0);
        if (hierarchies_.v2) {
            break;
        }
    }
    return kills;
}

void CgroupTree::thaw() {
    if (hierarchies_.v2 || hierarchies_.freezer.empty()) {
        return;
    }
    for (const auto& path : made_) {
        (void)set_value(path, "freezer", "freezer.state", "THAWED");
    }
}

Status CgroupTree::remove() {
    int attempts = 0;
    while (!made_.empty()) {
        const int error = delete_empty(made_.back(), controllers_);
        if (error == 0) {
            made_.pop_back();
        } else if (++attempts == removal_attempts) {
            return refused(made_.back(), "cannot be removed", error);
        } else {
            std::this_thread::sleep_for(removal_pause);
        }
    }
    return {};
}

void remove_leftover_trees(const Hierarchies& hierarchies, const std::function<bool(const std::string&)>& is_leftover) {
    const auto controllers = controllers_of(hierarchies);
    for (const auto& controller : controllers) {
        char* mount = nullptr;
        if (cgroup_get_subsys_mount_point(controller.c_str(), &mount) != 0) {
            continue;
        }
        const std::unique_ptr<char, decltype(&std::free)> owner(mount, &std::free);
        std::set<std::string> paths;  // a child sorts after its parent
        std::error_code error;
        for (std::filesystem::directory_iterator top(mount, error), end; !error && top != end; top.increment(error)) {
            const std::string name = top->path().filename();
            if (!top->is_directory(error) || !is_leftover(name)) {
                continue;
            }
            paths.insert("/" + name);
            for (std::filesystem::recursive_directory_iterator it(top->path(), error), last; !error && it != last;
                 it.increment(error)) {
                if (it->is_directory(error)) {
                    paths.insert("/" + std::filesystem::relative(it->path(), mount, error).string());
                }
            }
        }
        std::for_each(paths.rbegin(), paths.rend(), [&](const auto& path) { (void)delete_empty(path, {controller}); });
    }
}

}  // namespace evictd::kernel
