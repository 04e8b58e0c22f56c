// SPDX-License-Identifier: Apache-2.0
#include "kernel/pod_cgroup.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/cgroup_walk.hpp"
#include "kernel/usage_files.hpp"

namespace evictd::kernel {
namespace {

constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

Status write_file_at(int directory, const char* name, std::string_view text) {
    auto file = sys::openat(directory, name, O_WRONLY);
    return file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
}

Result<std::string> read_file_at(int directory, const char* name) {
    const auto file = sys::openat(directory, name, O_RDONLY);
    return file ? sys::read_all(file->get(), sys::control_file_limit) : tl::unexpected<Error>(file.error());
}

Bytes number_in(const Result<std::string>& text) {
    std::int64_t value = 0;
    if (text) {
        (void)std::from_chars(text->data(), text->data() + text->size(), value);
    }
    return Bytes{value};
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

// Of the pod's own cgroup first, and of all below it. A v1 file that stays open shows an old list for a second, so each
// is opened anew.
Status CgroupHandle::each_process(int top, const std::function<Walk(pid_t)>& visit) const {
    std::optional<Error> own;
    Status result;
    bool first = true;
    const auto walked = walk_cgroups(top, [&](int directory) {
        Walk next = Walk::on;
        const bool is_own = std::exchange(first, false);
        const sys::Fd file(::openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC));
        const int refused = file ? 0 : errno;
        auto read = file ? read_pids(file.get(), [&](int pid) { return next = visit(pid); })
                         : Status(sys::fail_errno("cgroup.procs", refused));
        if (!read && is_own && read.error().kind == ErrorKind::vanished) {
            own = Error{ErrorKind::vanished, path_, "the cgroup is gone", {}};
            return Walk::stop;
        }
        if (!read && read.error().kind != ErrorKind::vanished && result) {
            result = std::move(read);
        }
        return next;
    });
    if (own) {
        return tl::unexpected(*own);
    }
    return result ? walked : result;
}

Result<std::vector<pid_t>> CgroupHandle::processes() const {
    std::vector<pid_t> pids;
    auto read = each_process(memory_.get(), [&](pid_t pid) {
        pids.push_back(pid);
        return Walk::on;
    });
    return read ? Result<std::vector<pid_t>>(std::move(pids)) : tl::unexpected(read.error());
}

Result<bool> CgroupHandle::populated() const {
    if (v2_) {
        return read_file_at(memory_.get(), "cgroup.events").map([](const std::string& text) {
            return flat_value(text, "populated") != 0;
        });
    }
    bool any = false;
    const auto found = [&](pid_t) {
        any = true;
        return Walk::stop;
    };
    auto read = each_process(memory_.get(), found);
    // A process that moves between cgroups of one hierarchy and is missed there is found in the other.
    if (read && !any && !freezer_.empty()) {
        if (const auto freezer = sys::open(freezer_, directory_flags)) {
            read = each_process(freezer->get(), found);
        } else if (freezer.error().kind != ErrorKind::vanished) {
            read = tl::unexpected(freezer.error());
        }
    }
    return any || read ? Result<bool>(any) : tl::unexpected(read.error());
}

// Of memory that its pages are charged to, not of what its processes map. A kind that this kernel does not count is 0.
Result<HeldMemory> CgroupHandle::held_memory() const {
    const auto total = read_file_at(memory_.get(), v2_ ? "memory.current" : "memory.usage_in_bytes");
    const auto stat = read_file_at(memory_.get(), "memory.stat");
    if (!total || !stat) {
        return tl::unexpected(total ? stat.error() : total.error());
    }
    const auto value = [&](const char* key) { return Bytes{flat_value(*stat, key)}; };
    HeldMemory held{.total = number_in(total)};
    if (v2_) {
        held.anon = value("anon");
        held.shmem = value("shmem");
        held.file = std::max(Bytes{0}, value("file") - held.shmem);
        held.slab = value("slab");
        held.page_tables = value("pagetables");
        held.kernel = value("kernel");
    } else {
        held.anon = value("total_rss");
        held.shmem = value("total_shmem");
        held.file = std::max(Bytes{0}, value("total_cache") - held.shmem);
        held.kernel = number_in(read_file_at(memory_.get(), "memory.kmem.usage_in_bytes"));
    }
    return held;
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
    auto walked = walk_cgroups(directory->get(), [&](int below) {
        auto written =
            v2_ ? write_file_at(below, "cgroup.freeze", "0") : write_file_at(below, "freezer.state", "THAWED");
        if (!result) {
            result = std::move(written);
        }
        return Walk::on;
    });
    return *result ? walked : *result;
}

}  // namespace evictd::kernel
