// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_watch.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/pod_name.hpp"

namespace evictd::kernel {
namespace {

constexpr std::uint32_t changes = IN_CREATE | IN_DELETE | IN_ONLYDIR;

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};

// Names and cgroup ids of the directories in `path`: kernfs gives the id as the inode number.
std::vector<std::pair<std::string, CgroupId>> children_of(const std::string& path) {
    std::vector<std::pair<std::string, CgroupId>> children;
    const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
    while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
        const std::string name = static_cast<const char*>(entry->d_name);
        if (entry->d_type == DT_DIR && name != "." && name != "..") {
            children.emplace_back(name, CgroupId{entry->d_ino});
        }
    }
    return children;
}

}  // namespace

CgroupWatch::CgroupWatch(std::string mount, std::vector<std::string> roots, const sys::Clock& clock)
    : mount_(std::move(mount)),
      roots_(std::move(roots)),
      clock_(clock),
      inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (!inotify_) {
        refusal_ = std::string("inotify: ") + std::strerror(errno) + "; raise fs.inotify.max_user_instances";
    }
}

void CgroupWatch::watch(const std::string& path) {
    const int descriptor = inotify_add_watch(inotify_.get(), (mount_ + path).c_str(), changes);
    if (descriptor >= 0) {
        watched_[descriptor] = path;
    } else if (errno == ENOSPC) {
        refusal_ = "inotify: no watches left; raise fs.inotify.max_user_watches";
        inotify_.reset();  // half of the pods would be worse than a listing
    }
}

// The watch is added before the listing, so that no cgroup is missed. With a sink, the listed cgroups are reported:
// they may be older than the watch.
void CgroupWatch::watch_pods(const std::string& path, const Sink* sink) {
    watch(path);
    for (const auto& [name, id] : children_of(mount_ + path)) {
        std::string child = path;
        child.append("/").append(name);
        known_[child] = id;
        if (sink != nullptr) {
            tell(*sink, CgroupChange::made, id, child);
        }
        if (path == root_->path && !pod_uid_of(name)) {
            watch_pods(child, sink);  // a QoS class
        }
    }
}

void CgroupWatch::follow(const std::optional<port::PodsRoot>& root) {
    if (!root && !root_ && !watched_.empty()) {
        // A watch that is removed makes an event, and whoever follows again on each event would never be done.
        watch_ways();
        return;
    }
    for (const auto& [descriptor, path] : std::exchange(watched_, {})) {
        (void)inotify_rm_watch(inotify_.get(), descriptor);
    }
    known_.clear();
    root_ = root;
    if (!works()) {
        return;
    }
    if (root_) {
        known_[root_->path] = root_->id;
        watch(parent_of(root_->path));
        watch_pods(root_->path, nullptr);
    } else {
        watch_ways();
    }
}

// What there is of the ways to where the root may appear.
void CgroupWatch::watch_ways() {
    watch("");
    for (const auto& path : roots_) {
        for (auto end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
            watch(path.substr(0, end));
        }
    }
}

// As many as fit into one read; the rest keeps the fd readable.
std::vector<CgroupWatch::Event> CgroupWatch::read_events() {
    alignas(inotify_event) std::array<char, 16384> buffer{};
    const ssize_t size = read(inotify_.get(), buffer.data(), buffer.size());
    std::vector<Event> events;
    for (ssize_t at = 0; at < size;) {
        inotify_event head{};
        std::memcpy(&head, buffer.data() + at, sizeof(head));
        const char* name = buffer.data() + at + sizeof(head);
        events.push_back({head.wd, head.mask, head.len > 0 ? std::string(name) : std::string()});
        at += static_cast<ssize_t>(sizeof(head) + head.len);
    }
    return events;
}

void CgroupWatch::drain(const Sink& sink) {
    if (!works()) {
        return;
    }
    for (auto events = read_events(); !events.empty(); events = read_events()) {
        for (const auto& event : events) {
            take(event, sink);
        }
    }
}

void CgroupWatch::take(const Event& event, const Sink& sink) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
        sink(KernelEvent{clock_.monotonic(), EventsLost{loss::cgroup_watch, 1}});
        follow(std::optional(root_));
        return;
    }
    const auto directory = watched_.find(event.watch);
    if (directory == watched_.end() || (event.mask & IN_ISDIR) == 0) {
        if ((event.mask & IN_IGNORED) != 0) {
            watched_.erase(event.watch);  // the directory is gone
        }
        return;
    }
    const std::string path = directory->second + "/" + event.name;
    if (root_ && path != root_->path && !path.starts_with(root_->path + "/")) {
        return;  // a neighbour of the root
    }
    (event.mask & IN_CREATE) != 0 ? made(path, sink) : removed(path, sink);
}

void CgroupWatch::made(const std::string& path, const Sink& sink) {
    struct stat status {};
    if (stat((mount_ + path).c_str(), &status) != 0) {
        return;  // gone again
    }
    known_[path] = CgroupId{status.st_ino};
    tell(sink, CgroupChange::made, CgroupId{status.st_ino}, path);
    if (!root_) {
        watch_ways();
    } else if (parent_of(path) == root_->path && !pod_uid_of(path.substr(path.rfind('/') + 1))) {
        watch_pods(path, &sink);
    }
}

void CgroupWatch::removed(const std::string& path, const Sink& sink) {
    if (const auto known = known_.find(path); known != known_.end()) {
        const CgroupId id = known->second;
        known_.erase(known);
        tell(sink, CgroupChange::removed, id, path);
    }
}

void CgroupWatch::tell(const Sink& sink, CgroupChange change, CgroupId id, const std::string& path) const {
    sink(KernelEvent{clock_.monotonic(), CgroupLife{.change = change, .cgroup = id, .path = path}});
}

std::vector<SourceRow> CgroupWatch::rows() const { return cgroup_rows(works(), refusal_); }

std::vector<SourceRow> cgroup_rows(bool works, const std::string& refusal) {
    std::vector<SourceRow> rows;
    for (const char* hook : {"cgroup_made", "cgroup_removed"}) {
        rows.push_back({.hook = hook,
                        .chosen = works ? "inotify" : "listing at each look",
                        .fallback = !works,
                        .detail = refusal});
    }
    return rows;
}

}  // namespace evictd::kernel
