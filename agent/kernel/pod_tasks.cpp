// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// CgroupHandle's tasks, as the pids controller counts them.
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/stat.h>

#include "kernel/cgroup_walk.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/process_lists.hpp"

namespace evictd::kernel {

// v1: every task of the subtree is charged to its pids cgroup from its fork until it is reaped, wherever it moves.
bool CgroupHandle::surely_empty() const {
    if (v2_) {
        const auto any = populated();
        return any && !*any;
    }
    const auto left = tasks();
    return left && *left == 0;
}

// By path: a descriptor for each pod would be too many. A cgroup made anew under the same name has another inode. One
// that was not there when the handle was opened is ours as long as the memory cgroup that we hold is there.
Result<sys::Fd> CgroupHandle::open_pids() const {
    auto directory = sys::open(pids_, directory_flags);
    if (!directory) {
        return directory;
    }
    if (!pids_id_) {
        const auto alive = sys::openat(memory_.get(), "cgroup.procs", O_RDONLY);
        return alive ? std::move(directory) : tl::unexpected(alive.error());
    }
    struct stat status {};
    if (fstat(directory->get(), &status) != 0) {
        return sys::fail_errno(pids_, errno);
    }
    return status.st_ino == *pids_id_ ? std::move(directory) : fail(ErrorKind::vanished, pids_, "the cgroup is gone");
}

Result<std::int64_t> CgroupHandle::tasks() const {
    if (!v2_ && pids_.empty()) {
        return fail(ErrorKind::failed, path_, "no pids controller counts its tasks");
    }
    const auto directory = v2_ ? sys::openat(memory_.get(), ".", directory_flags) : open_pids();
    const auto text = directory ? read_file_at(directory->get(), "pids.current") : tl::unexpected(directory.error());
    if (!text) {
        return tl::unexpected(text.error());
    }
    std::int64_t count = 0;
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), count);
    return parsed.ec == std::errc() ? Result<std::int64_t>(count)
                                    : fail(ErrorKind::failed, path_ + "/pids.current", "is not a number");
}

}  // namespace evictd::kernel
