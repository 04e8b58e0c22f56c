// SPDX-License-Identifier: Apache-2.0
#include "kernel/pod_cgroup.hpp"

#include <cerrno>
#include <charconv>
#include <functional>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evictd::kernel {
namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
// Containers lie directly below their pod; deeper ones are made by what runs in them.
constexpr int max_depth = 16;

// Calls `visit` with each directory from `directory` downwards, parents first. A directory that goes away meanwhile is
// passed over.
void walk(int directory, const std::function<void(int)>& visit, int depth = 0) {
    visit(directory);
    auto again = sys::openat(directory, ".", directory_flags);  // readdir moves the position: never our own handle's
    if (!again || depth >= max_depth) {
        return;
    }
    DIR* stream = fdopendir(again->get());
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
    if (hierarchies.v2) {
        if (auto kill_file = sys::openat(handle->memory_.get(), "cgroup.kill", O_WRONLY)) {
            handle->kill_file_ = std::move(*kill_file);
        }
        if (auto again = sys::openat(handle->memory_.get(), ".", directory_flags)) {
            handle->freezer_ = std::move(*again);
        }
    } else if (!hierarchies.freezer.empty()) {
        if (auto freezer = sys::open(hierarchies.freezer + path, directory_flags)) {
            handle->freezer_ = std::move(*freezer);
        }
    }
    return handle;
}

Result<std::vector<pid_t>> CgroupHandle::processes() const {
    auto own = sys::openat(memory_.get(), "cgroup.procs", O_RDONLY);
    if (!own) {
        return fail(ErrorKind::vanished, path_, "the cgroup is gone");
    }
    std::vector<pid_t> pids;
    std::string text;
    walk(memory_.get(), [&](int directory) {
        auto file = sys::openat(directory, "cgroup.procs", O_RDONLY);
        if (file && sys::read_text(file->get(), text)) {
            append_pids(text, pids);
        }
    });
    return pids;
}

Status CgroupHandle::kill() const { return sys::write_text(kill_file_.get(), "1"); }

Status CgroupHandle::freeze() const {
    return v2_ ? write_file_at(freezer_.get(), "cgroup.freeze", "1")
               : write_file_at(freezer_.get(), "freezer.state", "FROZEN");
}

Status CgroupHandle::thaw() const {
    Status result;
    bool first = true;
    walk(freezer_.get(), [&](int directory) {
        auto written =
            v2_ ? write_file_at(directory, "cgroup.freeze", "0") : write_file_at(directory, "freezer.state", "THAWED");
        if (first) {
            result = std::move(written);
            first = false;
        }
    });
    return result;
}

}  // namespace evictd::kernel
