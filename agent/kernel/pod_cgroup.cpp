// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_cgroup.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evictd/abi/event.h"
#include "kernel/cgroup_walk.hpp"
#include "kernel/process_lists.hpp"
#include "kernel/usage_files.hpp"

namespace evictd::kernel {
namespace {

// Each batch lists its cgroup again, so that a cgroup of many processes is dealt with in at most `most_listings`, as
// far as descriptors should be held for it: a pidfd takes about 1 KiB of the kernel's memory.
constexpr std::size_t most_listings = 16;
constexpr std::size_t smallest_batch = 256;
constexpr std::size_t largest_batch = 1024;

// The cgroup of this program is read anew after this time, and in a child: a kill must not wait for it. Nobody but root
// moves us.
constexpr auto own_cgroup_holds = std::chrono::seconds(1);
std::mutex own_mutex;
std::optional<std::string> own_path;  // below the mount point; none: it cannot be told
pid_t own_pid = 0;
std::chrono::steady_clock::time_point own_since;

// An error: it cannot be read.
Result<bool> lists_us(const std::string& directory) {
    const auto opened = sys::open(directory, directory_flags);
    const auto listed = opened ? list_processes(opened->get()) : tl::unexpected<Error>(opened.error());
    if (!listed && listed.error().kind != ErrorKind::vanished) {
        return tl::unexpected(listed.error());
    }
    return listed && std::binary_search(listed->begin(), listed->end(), getpid());
}

bool surely_lists_us(const std::string& directory) { return lists_us(directory).value_or(false); }

// /proc/self/cgroup tells our cgroup below the root of our namespace. Where that is not the mount's root, as in a
// container, the cgroup of that path does not list us, and the host's namespace is asked. The last answer holds where
// no file can be opened: a pod that takes all descriptors must not protect itself by it.
std::optional<std::string> find_own_path(const std::string& mount, bool v2, std::optional<std::string> last) {
    if (last && lists_us(mount + *last).value_or(true)) {
        return last;
    }
    auto path = own_cgroup(v2);
    if (!path || !surely_lists_us(mount + *path)) {
        path = own_cgroup_of_host(v2);
    }
    return path && surely_lists_us(mount + *path) ? path : std::nullopt;
}

// In the whole hierarchy, some 10 us a cgroup.
std::optional<std::string> search_own_path(const std::string& mount) {
    std::optional<std::string> found;
    const auto top = sys::open(mount, directory_flags);
    if (!top) {
        return found;
    }
    (void)walk_cgroups(top->get(), [&](int directory) {
        const auto listed = list_processes(directory);
        if (!listed || !std::binary_search(listed->begin(), listed->end(), getpid())) {
            return Walk::on;
        }
        std::error_code failed;
        const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(directory), failed).string();
        if (path.starts_with(mount)) {
            found = path.substr(mount.size());
        }
        return Walk::stop;
    });
    return found;
}

// None: it cannot be told.
std::optional<std::string> own_path_below(const std::string& mount, bool v2) {
    const std::scoped_lock lock(own_mutex);
    const auto now = std::chrono::steady_clock::now();
    if (own_pid != getpid() || now - own_since > own_cgroup_holds) {
        own_path = find_own_path(mount, v2, std::move(own_path));
        own_pid = getpid();
        own_since = now;
    }
    return own_path;
}

}  // namespace

void find_own_cgroup(const Hierarchies& hierarchies) {
    if (own_path_below(hierarchies.memory, hierarchies.v2)) {
        return;
    }
    auto found = search_own_path(hierarchies.memory);
    const std::scoped_lock lock(own_mutex);
    own_path = std::move(found);
}

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
    handle->mount_ = hierarchies.memory;
    if (!hierarchies.freezer.empty()) {
        handle->freezer_ = hierarchies.freezer + path;
    }
    if (!hierarchies.pids.empty()) {
        handle->pids_ = hierarchies.pids + path;
        if (stat(handle->pids_.c_str(), &status) == 0) {
            handle->pids_id_ = status.st_ino;
        }
    }
    auto kill_file = sys::openat(handle->memory_.get(), "cgroup.kill", O_WRONLY);
    if (kill_file) {
        handle->kill_file_ = std::move(*kill_file);
    } else if (kill_file.error().kind != ErrorKind::vanished) {  // there is none on v1
        return tl::unexpected(kill_file.error());
    }
    return handle;
}

// Of the pod's own cgroup first, and of all below it; of no more than `left`, where that is given. A v1 file that stays
// open shows an old list for a second, so each is opened anew.
Status CgroupHandle::each_process(int top, const std::function<Walk(pid_t)>& visit, std::size_t* left) const {
    std::optional<Error> own;
    Status result;
    bool first = true;
    const auto walked = walk_cgroups(top, [&](int directory) {
        Walk next = Walk::on;
        const bool is_own = std::exchange(first, false);
        if (left != nullptr && (*left)-- == 1) {
            return Walk::stop;
        }
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

// For each directory that cannot be listed: why, unless it went away. The pod's own going away ends the walk.
Status CgroupHandle::each_batch_below(int top, bool threads, bool& stopped, const VisitBatch& visit) const {
    Status result;
    bool gone = false;
    bool first = true;
    const auto walked = walk_cgroups(top, [&](int directory) {
        const auto list = [&] { return threads ? list_by_threads(directory) : list_processes(directory); };
        const bool is_own = std::exchange(first, false);
        const auto pids = list();
        if (!pids && pids.error().kind == ErrorKind::vanished) {
            gone = is_own;
            return gone ? Walk::stop : Walk::on;
        }
        if (!pids) {
            result = result ? Status(tl::unexpected(pids.error())) : result;
            return Walk::on;
        }
        const auto size = std::clamp(pids->size() / most_listings, smallest_batch, largest_batch);
        for (std::size_t begin = 0; !stopped && (begin == 0 || begin < pids->size()); begin += size) {
            const auto count = std::min(size, pids->size() - begin);
            stopped = !visit({std::span<const pid_t>(pids->data() + begin, count), list});
        }
        return stopped ? Walk::stop : Walk::on;
    });
    if (gone) {
        return fail(ErrorKind::vanished, path_, "the cgroup is gone");
    }
    return result ? walked : result;
}

// The pod is gone with its memory cgroup; what it has elsewhere may be gone, or not be there yet.
Status CgroupHandle::each_batch(port::Listing listing, const VisitBatch& visit) const {
    bool stopped = false;
    auto done = each_batch_below(memory_.get(), false, stopped, visit);
    if (listing == port::Listing::quick || stopped || (!done && done.error().kind == ErrorKind::vanished)) {
        return done;
    }
    Status more;
    if (v2_) {
        more = each_batch_below(memory_.get(), true, stopped, visit);
    } else if (!freezer_.empty()) {
        const auto freezer = sys::open(freezer_, directory_flags);
        more =
            freezer ? each_batch_below(freezer->get(), false, stopped, visit) : Status(tl::unexpected(freezer.error()));
    }
    return more || !done || more.error().kind == ErrorKind::vanished ? done : more;
}

Result<bool> CgroupHandle::holds_us() const {
    if (const auto own = own_path_below(mount_, v2_)) {
        return *own == path_ || own->starts_with(path_ + "/");
    }
    bool found = false;
    auto searched = each_process(memory_.get(), [&](pid_t pid) {
        found = pid == getpid();
        return found ? Walk::stop : Walk::on;
    });
    return found || searched ? Result<bool>(found) : tl::unexpected(searched.error());
}

// A pod makes as many cgroups as it likes, and each takes 8 us of a real-time thread: no more are searched than the BPF
// programs read. Of more, where none of those has a process, it is populated until its pids cgroup says otherwise.
Result<bool> CgroupHandle::populated() const {
    if (v2_) {
        return read_file_at(memory_.get(), "cgroup.events").map([](const std::string& text) {
            return flat_value(text, "populated") != 0;
        });
    }
    bool any = false;
    std::size_t left = EVICTD_MAX_POD_CGROUPS;
    const auto found = [&](pid_t) {
        any = true;
        return Walk::stop;
    };
    auto read = each_process(memory_.get(), found, &left);
    // A process that moves between cgroups of one hierarchy and is missed there is found in the other.
    if (read && !any && left > 0 && !freezer_.empty()) {
        if (const auto freezer = sys::open(freezer_, directory_flags)) {
            read = each_process(freezer->get(), found, &left);
        } else if (freezer.error().kind != ErrorKind::vanished) {
            read = tl::unexpected(freezer.error());
        }
    }
    if (!any && left == 0) {
        return !surely_empty();
    }
    return any || read ? Result<bool>(any) : tl::unexpected(read.error());
}

Status CgroupHandle::kill() const { return sys::write_text(kill_file_.get(), "1"); }

}  // namespace evictd::kernel
