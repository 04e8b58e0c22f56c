// SPDX-License-Identifier: Apache-2.0
#include "kernel/pins.hpp"

#include <cerrno>
#include <filesystem>

#include <bpf/bpf.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include "sys/claim.hpp"

namespace evictd::kernel {
namespace {

constexpr const char* mount_point = "/sys/fs/bpf";

bool on_bpffs(const std::string& path) {
    struct statfs fs {};
    return statfs(path.c_str(), &fs) == 0 && static_cast<std::uint32_t>(fs.f_type) == BPF_FS_MAGIC;
}

void remove_files(const std::string& directory) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;  // a pin that cannot be removed makes pinning over it fail, and that is reported
        std::filesystem::remove(it->path(), ignored);
    }
}

}  // namespace

Result<sys::Fd> prepare_pins(const std::string& path) {
    if (path.starts_with(std::string(mount_point) + "/") && !on_bpffs(mount_point) &&
        mount("bpf", mount_point, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") != 0) {
        return sys::fail_errno(std::string("mount ") + mount_point, errno, "mount -t bpf bpf /sys/fs/bpf");
    }
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) {
        return sys::fail_errno(path, error.value());
    }
    if (!on_bpffs(path)) {
        std::filesystem::remove(path, error);
        return fail(ErrorKind::invalid, path, "is not on a BPF filesystem", "choose a bpffsPath below /sys/fs/bpf");
    }
    auto claimed = sys::claim_directory(path, "another evictd's maps are pinned here", "choose another bpffsPath");
    if (!claimed) {
        return claimed;
    }
    remove_files(path + "/links");
    remove_files(path);
    std::filesystem::create_directory(path + "/links", error);
    if (error) {
        return sys::fail_errno(path, error.value());
    }
    return claimed;
}

Status pin_at(const std::string& path, std::span<const Pin> pins) {
    for (const auto& pin : pins) {
        const std::string file = path + "/" + pin.name;
        if (bpf_obj_pin(pin.fd, file.c_str()) != 0) {
            return sys::fail_errno("pin " + file, errno);
        }
    }
    return {};
}

void remove_pins(const std::string& path) {
    if (!on_bpffs(path)) {
        return;
    }
    std::error_code ignored;
    remove_files(path + "/links");
    std::filesystem::remove(path + "/links", ignored);
    remove_files(path);
    std::filesystem::remove(path, ignored);
}

}  // namespace evictd::kernel
