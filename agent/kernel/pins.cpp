// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Everything below the directory is done through its handle. Paths in /proc/self/fd are how the bpf system call is
// given one: it takes names only, and would follow a link.
#include "kernel/pins.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "kernel/pinned_maps.hpp"
#include "kernel/programs.hpp"
#include "sys/file.hpp"
#include "sys/own_directory.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* mount_point = "/sys/fs/bpf";
constexpr const char* links_name = "links";
constexpr const char* remedy = "choose a directory of its own below /sys/fs/bpf as evictd.bpffsPath";

bool is_bpffs(const struct statfs& fs) { return static_cast<std::uint32_t>(fs.f_type) == BPF_FS_MAGIC; }

Status mount_bpffs(const std::string& path) {
    struct statfs fs {};
    const bool is_wanted = path.starts_with(std::string(mount_point) + "/");
    if (!is_wanted || (statfs(mount_point, &fs) == 0 && is_bpffs(fs)) ||
        mount("bpf", mount_point, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") == 0) {
        return {};
    }
    return sys::fail_errno(std::string("mount ") + mount_point, errno, "mount -t bpf bpf /sys/fs/bpf");
}

// A directory below the mount point, not the mount point: that is everybody's.
Status check_file_system(const sys::Fd& directory, const std::string& path) {
    struct statfs fs {};
    if (fstatfs(directory.get(), &fs) != 0) {
        return sys::fail_errno(path, errno);
    }
    if (!is_bpffs(fs)) {
        return fail(ErrorKind::invalid, path, "is not on a BPF filesystem", remedy);
    }
    struct stat here {};
    struct stat above {};
    if (fstat(directory.get(), &here) != 0 || fstatat(directory.get(), "..", &above, 0) != 0) {
        return sys::fail_errno(path, errno);
    }
    if (here.st_dev != above.st_dev) {
        return fail(ErrorKind::invalid, path, "is the root of a BPF filesystem, which others use too", remedy);
    }
    return {};
}

Result<sys::LockFile> claim(const sys::Fd& directory, const std::string& path) {
    struct stat status {};
    if (fstat(directory.get(), &status) != 0) {
        return sys::fail_errno(path, errno);
    }
    return sys::LockFile::take({.name = fmt::format("pins-{}-{}", status.st_dev, status.st_ino),
                                .object = path,
                                .holder = "another evictd's maps are pinned here",
                                .remedy = "choose another evictd.bpffsPath"});
}

Result<std::vector<std::string>> names_in(const sys::Fd& directory, const std::string& path) {
    std::vector<std::string> names;
    const int copy = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // closedir() closes it
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(copy >= 0 ? fdopendir(copy) : nullptr, closedir);
    errno = entries ? 0 : errno;
    while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    if (errno != 0) {
        return sys::fail_errno(path, errno);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::string by_handle(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// A pin by its name.
struct PinName {
    const sys::Fd& directory;
    std::string path;  // for people
    std::string name;
};

// The object itself, never one that a link leads to. Invalid: it is no object.
Result<sys::Fd> object_at(const PinName& pin) {
    const sys::Fd file(::openat(pin.directory.get(), pin.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) {
        return sys::fail_errno(pin.path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return sys::Fd();
    }
    sys::Fd object(bpf_obj_get(by_handle(file.get()).c_str()));
    return object ? Result<sys::Fd>(std::move(object)) : sys::fail_errno(pin.path, errno);
}

// The kernel cuts names after 15 characters.
bool is_name(const char* kernels, std::string_view ours) {
    return std::string_view(kernels) == ours.substr(0, BPF_OBJ_NAME_LEN - 1);
}

Result<bool> is_our_map(const PinName& pin) {
    const auto maps = pinned_maps();
    const auto known = std::find_if(maps.begin(), maps.end(), [&](const auto& map) { return pin.name == map.name; });
    if (known == maps.end()) {
        return false;
    }
    const auto object = object_at(pin);
    if (!object || !*object) {
        return object ? Result<bool>(false) : tl::unexpected(object.error());
    }
    bpf_map_info info{};
    std::uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(object->get(), &info, &size) != 0) {
        return sys::fail_errno(pin.path, errno);
    }
    // For an object of another kind the kernel fills in another struct, which has no name in this place.
    return is_name(info.name, known->name) && info.type == static_cast<std::uint32_t>(known->type);
}

// What bpf_link_show_fdinfo() prints (since 5.8): for a map or a program the kernel fills in another struct than
// bpf_link_info, and does not say so.
Result<bool> is_link(const sys::Fd& object) {
    const auto shown = sys::read_file("/proc/self/fdinfo/" + std::to_string(object.get()), sys::control_file_limit);
    return shown.map([](const auto& text) { return text.find("\nlink_type:") != std::string::npos; });
}

Result<bool> is_our_link(const PinName& pin) {
    const auto& all = candidates();
    if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return pin.name == one.program; })) {
        return false;
    }
    const auto object = object_at(pin);
    if (!object || !*object) {
        return object ? Result<bool>(false) : tl::unexpected(object.error());
    }
    if (auto linked = is_link(*object); !linked || !*linked) {
        return linked;
    }
    bpf_link_info link{};
    std::uint32_t size = sizeof(link);
    if (bpf_obj_get_info_by_fd(object->get(), &link, &size) != 0) {
        return sys::fail_errno(pin.path, errno);
    }
    const sys::Fd program(bpf_prog_get_fd_by_id(link.prog_id));
    if (!program) {
        // EPERM: it takes CAP_SYS_ADMIN, which a container does not have. A link by this name in a directory that only
        // root can write and no living agent uses: if it stayed, its program would run beside the next agent's.
        const bool known = errno == EPERM || errno == ENOENT;
        return known ? Result<bool>(errno == EPERM) : sys::fail_errno(pin.path, errno);
    }
    bpf_prog_info info{};
    size = sizeof(info);
    if (bpf_obj_get_info_by_fd(program.get(), &info, &size) != 0) {
        return sys::fail_errno(pin.path, errno);
    }
    return is_name(info.name, pin.name);
}

void remove_one(const PinName& pin, PinKind kind, RemovedPins& result) {
    const bool is_link = kind == PinKind::link;
    const std::string shown = is_link ? std::string(links_name) + "/" + pin.name : pin.name;
    const auto ours = is_link ? is_our_link(pin) : is_our_map(pin);
    if (!ours) {
        if (ours.error().kind != ErrorKind::vanished) {
            result.failed.push_back(
                {ours.error().kind, pin.path, "cannot be read: " + ours.error().why, ours.error().remedy});
        }
    } else if (!*ours) {
        result.foreign.push_back(shown);
    } else if (unlinkat(pin.directory.get(), pin.name.c_str(), 0) == 0) {
        result.removed.push_back(shown);
    } else {
        result.failed.push_back(sys::fail_errno(pin.path, errno).value());
    }
}

void remove_from(const sys::Fd& directory, const std::string& path, PinKind kind, RemovedPins& result) {
    const auto names = names_in(directory, path);
    if (!names) {
        result.failed.push_back(names.error());
        return;
    }
    for (const auto& name : *names) {
        if (kind != PinKind::map || name != links_name) {
            remove_one({directory, std::string(path).append("/").append(name), name}, kind, result);
        }
    }
}

// While one holds something of others it stays.
void remove_directories(const PinDirectory& directory) {
    (void)unlinkat(directory.maps.get(), links_name, AT_REMOVEDIR);
    (void)rmdir(directory.path.c_str());
}

RemovedPins remove_files(const PinDirectory& directory) {
    RemovedPins result;
    if (directory.links) {
        remove_from(directory.links, directory.path + "/" + links_name, PinKind::link, result);
    }
    remove_from(directory.maps, directory.path, PinKind::map, result);
    return result;
}

Result<PinDirectory> open_pins(const std::string& path, bool make) {
    auto maps = make ? sys::make_own_directories(path, sys::Access::readable)
                     : sys::open_own_directory(path, sys::Access::readable, false);
    if (!maps) {
        return tl::unexpected(maps.error());
    }
    if (auto checked = check_file_system(*maps, path); !checked) {
        return tl::unexpected(checked.error());
    }
    // Nobody but root can have changed it; from here on nobody else can look in, either.
    if (fchmod(maps->get(), 0700) != 0) {
        return sys::fail_errno(path, errno);
    }
    auto claimed = claim(*maps, path);
    if (!claimed) {
        return tl::unexpected(claimed.error());
    }
    auto links = sys::open_own_directory_at(*maps, path, links_name, sys::Access::readable, make);
    if (!links && (make || links.error().kind != ErrorKind::vanished)) {
        return tl::unexpected(links.error());
    }
    return PinDirectory{path, std::move(*maps), links ? std::move(*links) : sys::Fd(), std::move(*claimed)};
}

}  // namespace

Result<PinDirectory> prepare_pins(const std::string& path) {
    if (auto mounted = mount_bpffs(path); !mounted) {
        return tl::unexpected(mounted.error());
    }
    const bool is_new = access(path.c_str(), F_OK) != 0;
    auto directory = open_pins(path, true);
    if (!directory && is_new) {
        (void)rmdir(path.c_str());  // empty, and made just now
    }
    if (directory) {
        (void)remove_files(*directory);
    }
    return directory;
}

Status pin_at(PinDirectory& directory, std::span<const Pin> pins) {
    for (const auto& pin : pins) {
        const bool is_link = pin.kind == PinKind::link;
        const int at = is_link ? directory.links.get() : directory.maps.get();
        if (bpf_obj_pin(pin.fd, (by_handle(at) + "/" + pin.name).c_str()) != 0) {
            return sys::fail_errno("pin " + directory.path + (is_link ? "/links/" : "/") + pin.name, errno);
        }
        directory.pinned.push_back(pin);
    }
    return {};
}

void remove_pins(const PinDirectory& directory) {
    for (const auto& pin : directory.pinned) {
        const auto& at = pin.kind == PinKind::link ? directory.links : directory.maps;
        (void)unlinkat(at.get(), pin.name.c_str(), 0);
    }
    remove_directories(directory);
}

Result<RemovedPins> remove_left_pins(const std::string& path) {
    auto directory = open_pins(path, false);
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    auto result = remove_files(*directory);
    remove_directories(*directory);
    return result;
}

}  // namespace evictd::kernel
