// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/filesystem_reading.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "sys/clock.hpp"
#include "sys/fd.hpp"

namespace evictd::disk {
namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

std::int64_t at_most_int64(std::uint64_t value) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, most));
}

// What a filesystem in user space says may be absurd.
Bytes bytes(std::uint64_t blocks, std::uint64_t size) {
    std::uint64_t product = 0;
    return {__builtin_mul_overflow(blocks, size, &product) ? most : at_most_int64(product)};
}

// Its subvolumes have a device each, and an f_fsid each, and share all space.
Result<FilesystemId> btrfs_id(const std::string& path, int directory) {
    const auto readable = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY);
    btrfs_ioctl_fs_info_args found{};
    if (!readable) return tl::unexpected(readable.error());
    if (::ioctl(readable->get(), BTRFS_IOC_FS_INFO, &found) != 0)
        return sys::fail_errno(path + ": BTRFS_IOC_FS_INFO", errno);
    std::array<std::uint64_t, 2> uuid{};
    static_assert(sizeof uuid == sizeof found.fsid);
    std::memcpy(uuid.data(), &found.fsid, sizeof uuid);
    return FilesystemId{uuid[0], uuid[1]};
}

Result<FilesystemId> id_of(const std::string& path, int directory, const struct statfs& status) {
    if (status.f_type == BTRFS_SUPER_MAGIC) return btrfs_id(path, directory);
    struct stat of {};
    if (::fstat(directory, &of) != 0) return sys::fail_errno(path + ": fstat", errno);
    return FilesystemId{0, of.st_dev};
}

}  // namespace

FilesystemReading reading_of(const struct statfs& status) {
    // Kernels before 2.6 left it empty, and some filesystems in user space do.
    const auto unit = static_cast<std::uint64_t>(status.f_frsize > 0 ? status.f_frsize : status.f_bsize);
    FilesystemReading reading;
    reading.available = bytes(status.f_bavail, unit);
    reading.capacity = bytes(status.f_blocks, unit);
    if (status.f_files > 0) {
        reading.inodes = at_most_int64(status.f_files);
        reading.inodes_free = at_most_int64(std::min(status.f_ffree, status.f_files));
    }
    return reading;
}

Result<FilesystemReading> read_filesystem(const std::string& path) {
    const auto at = sys::SystemClock().monotonic();
    const auto directory = sys::open(path, O_PATH | O_DIRECTORY);
    if (!directory) return tl::unexpected(directory.error());
    struct statfs status {};
    if (::fstatfs(directory->get(), &status) != 0) return sys::fail_errno(path + ": statfs", errno);
    const auto id = id_of(path, directory->get(), status);
    if (!id) return tl::unexpected(id.error());
    auto reading = reading_of(status);
    // A filesystem without a size says nothing of what is free (proc, autofs, an overlay without an upper layer).
    if (reading.capacity <= Bytes{}) return fail(ErrorKind::invalid, path, "its filesystem has no size");
    reading.id = *id;
    reading.at = at;
    return reading;
}

Layout layout_of(const std::array<std::optional<FilesystemId>, node_filesystem_count>& of, bool containers_apart) {
    const auto& [node, images, named] = of;
    const auto& containers = containers_apart ? named : images;
    if (!node) return {FsLayout::unknown, "nodefs is not known"};
    if (!images) return {FsLayout::unknown, "imagefs is not known"};
    if (!containers) return {FsLayout::unknown, "containerfs is not known"};
    if (*images == *containers) return {*images == *node ? FsLayout::single : FsLayout::dedicated_image_fs, {}};
    if (*containers == *node) return {FsLayout::split, {}};
    return {FsLayout::unknown, "containers are apart from images and from nodefs, which Kubernetes does not support"};
}

}  // namespace evictd::disk
