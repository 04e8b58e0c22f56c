// SPDX-License-Identifier: Apache-2.0
#include "kernel/pod_cgroup.hpp"

#include <cerrno>
#include <charconv>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evictd::kernel {
namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
// Containers lie directly below their pod; deeper ones are made by what runs in them.
constexpr int max_depth = 16;
constexpr nlink_t leaf_links = 2;

// Calls `visit` with each directory from `directory` downwards, parents first. A directory that goes away meanwhile is
// passed over.
template <class Visit>
void walk(int directory, const Visit& visit, int depth = 0) {
    visit(directory);
    // A cgroup's directory has two links and one more for each cgroup below it. Most are leaves, and reading through
    // their control files' names is what would cost most here.
    struct stat status {};
    if (depth >= max_depth || (fstat(directory, &status) == 0 && status.st_nlink == leaf_links)) {
        return;
    }
    auto again = sys::openat(directory, ".", directory_flags);  // readdir moves the position: never our own handle's
    DIR* stream = again ? fdopendir(again->get()) : nullptr;
    if (stream == nullptr) {
        return;
    }
    (void)again->release();  // closedir() closes it
    while (const dirent* entry = readdir(stream)) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            if (auto child = sys::openat(directory, entry->d_name, directory_flags)) {
                walk(child->get(), visit, depth + 1);
            }
        }
    }
    closedir(stream);
}

void append_pids(const std::string& text, std::vector<pid_t>& pids) {
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
        pid_t pid = 0;
        auto [next, error] = std::from_chars(at, end, pid);
        if (error != std::errc()) {
            return;
        }
        if (pid > 0) {  // 0: a process of another pid namespace, which we cannot name
            pids.push_back(pid);
        }
        at = next < end ? next + 1 : end;
    }
}

Status write_file_at(int directory, const char* name, std::string_view text) {
    auto file = sys::openat(directory, name, O_WRONLY);
    return file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
}

}  // namespace

Result<port::PodCgroupPtr> CgroupHandle::open(const Hierarchies& hierarchies, const std::string& path) {
    std::shared_ptr<CgroupHandle> handle(new CgroupHandle);
    auto memory = sys::open(hierarchies.memory + path, directory_flags);
    if (!memory) {
        return tl::unexpected(memory.error());
    }
    struct stat status {};
    if (fstat(memory->get(), &status) != 0) {
        return sys::fail_errno(path, errno);
    }
    handle->id_ = CgroupId{status.st_ino};
    handle->path_ = path;
    handle->v2_ = hierarchies.v2;
    handle->memory_ = std::move(*memory);
    if (!hierarchies.freezer.empty()) {
        handle->freezer_ = hierarchies.freezer + path;
    }
    auto kill_file = sys::openat(handle->memory_.get(), "cgroup.kill", O_WRONLY);
    if (kill_file) {
        handle->kill_file_ = std::move(*kill_file);
    } else if (kill_file.error().kind != ErrorKind::vanished) {  // there is none on v1
        return tl::unexpected(kill_file.error());
    }
    return handle;
}

Result<std::vector<pid_t>> CgroupHandle::processes() const {
    std::vector<pid_t> pids;
    std::string text;
    bool alive = false;
    walk(memory_.get(), [&](int directory) {
        // Opened each time: a v1 file that stays open shows an old list for a second.
        auto file = sys::openat(directory, "cgroup.procs", O_RDONLY);
        alive = alive || file;  // the pod's own comes first
        if (file && sys::read_text(file->get(), text)) {
            append_pids(text, pids);
        }
    });
    return alive ? Result<std::vector<pid_t>>(std::move(pids)) : fail(ErrorKind::vanished, path_, "the cgroup is gone");
}

Status CgroupHandle::kill() const { return sys::write_text(kill_file_.get(), "1"); }

// By path each time, because who hears of the memory controller's directory may not find the freezer's yet. The memory
// cgroup that we hold is still there, so no other one bears the name.
Result<sys::Fd> CgroupHandle::open_freezer() const {
    auto alive = sys::openat(memory_.get(), v2_ ? "." : "cgroup.procs", v2_ ? directory_flags : O_RDONLY);
    return v2_ || !alive ? std::move(alive) : sys::open(freezer_, directory_flags);
}

Status CgroupHandle::freeze() const {
    const auto directory = open_freezer();
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    return v2_ ? write_file_at(directory->get(), "cgroup.freeze", "1")
               : write_file_at(directory->get(), "freezer.state", "FROZEN");
}

Status CgroupHandle::thaw() const {
    const auto directory = open_freezer();
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    std::optional<Status> result;  // the pod's own, which comes first
    walk(directory->get(), [&](int below) {
        auto written =
            v2_ ? write_file_at(below, "cgroup.freeze", "0") : write_file_at(below, "freezer.state", "THAWED");
        if (!result) {
            result = std::move(written);
        }
    });
    return *result;
}

}  // namespace evictd::kernel
