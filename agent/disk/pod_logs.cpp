// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/pod_logs.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "disk/log_checks.hpp"
#include "disk/remove_tree.hpp"
#include "evictd/model/log_names.hpp"
#include "evictd/model/text.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

constexpr Bytes block{512};  // of st_blocks
// That are read of one pod's logs, many times what it has, and of all pods' directories. A pod with the directory of
// logs may make entries as fast as they are read, and those of the others have to be listed.
constexpr std::size_t most_entries = std::size_t{1} << 16U;

std::string below(const std::string& directory, std::string_view name) { return directory + "/" + std::string(name); }

// What follows `directory`/ of `path`; empty: it is elsewhere.
std::string_view name_in(const std::string& directory, std::string_view path) {
    return path.starts_with(directory + "/") ? path.substr(directory.size() + 1) : std::string_view();
}

class LogLister {
public:
    LogLister(const LogDirectories& directories, WallTime now) : directories_(directories), now_(now) {}
    port::PodLogList run() {
        list_pods();
        list_links();
        return std::move(list_);
    }

private:
    struct Names {
        std::vector<std::string> directories;
        std::vector<std::string> others;
    };
    void list_pods();
    void list_rotated(const sys::Fd& container, const std::string& pod, const std::string& name, std::size_t& left);
    void list_links();
    [[nodiscard]] bool is_dangling(const sys::Fd& links, const std::string& name) const;
    // Reads `left` entries at most, or a buffer more.
    [[nodiscard]] Names names_in(const sys::Fd& directory, const std::string& shown, std::size_t& left);
    // Invalid: it is not there, or cannot be opened, which is noted.
    [[nodiscard]] sys::Fd open_root(const std::string& path);
    [[nodiscard]] sys::Fd open_in(const sys::Fd& directory, const std::string& name, const std::string& shown);
    void note(const std::string& what, int error) {
        if (list_.trouble.empty()) list_.trouble = sys::fail_errno(printable(what), error).value().text();
    }

    const LogDirectories& directories_;
    WallTime now_;
    sys::Fd pods_;  // that of all pods; invalid: not listed to its end, or nothing is in it
    port::PodLogList list_;
    EntryReader reader_;
};

sys::Fd LogLister::open_root(const std::string& path) {
    sys::Fd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root && errno != ENOENT) note(path, errno);
    return root;
}

sys::Fd LogLister::open_in(const sys::Fd& directory, const std::string& name, const std::string& shown) {
    auto opened = sys::open_directory_below(directory.get(), name.c_str(), sys::Mounts::refuse);
    if (!opened && errno != ENOENT) note(below(shown, name), errno);
    return opened;
}

LogLister::Names LogLister::names_in(const sys::Fd& directory, const std::string& shown, std::size_t& left) {
    Names names;
    while (left > 0) {
        const int error = reader_.read(directory.get(), false);
        if (error != 0) note(shown, error);
        if (error != 0 || reader_.entries().empty()) break;
        left -= std::min(left, reader_.entries().size());
        for (const auto& entry : reader_.entries()) {
            struct stat status {};
            const bool unknown = entry.may_be_directory == IsDirectory::unknown;
            if (unknown && ::fstatat(directory.get(), entry.name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            const bool is_directory = unknown ? S_ISDIR(status.st_mode) : entry.may_be_directory == IsDirectory::yes;
            (is_directory ? names.directories : names.others).emplace_back(entry.name);
        }
    }
    std::sort(names.directories.begin(), names.directories.end());
    std::sort(names.others.begin(), names.others.end());
    return names;
}

void LogLister::list_pods() {
    auto root = open_root(directories_.pods);
    if (!root) return;
    std::size_t left = most_entries;
    list_.directories = names_in(root, directories_.pods, left).directories;
    if (left == 0) note(directories_.pods, EFBIG);
    const bool is_whole = list_.trouble.empty() && !list_.directories.empty();
    for (const auto& pod : list_.directories) {
        const auto directory = open_in(root, pod, directories_.pods);
        if (!directory) continue;
        const auto shown = below(directories_.pods, pod);
        left = most_entries;
        for (const auto& name : names_in(directory, shown, left).directories) {
            if (const auto container = open_in(directory, name, shown)) list_rotated(container, pod, name, left);
        }
    }
    if (is_whole) pods_ = std::move(root);
}

void LogLister::list_rotated(const sys::Fd& container, const std::string& pod, const std::string& name,
                             std::size_t& left) {
    const auto shown = below(below(directories_.pods, pod), name);
    for (const auto& file : names_in(container, shown, left).others) {
        struct stat status {};
        if (!is_rotated_log(file)) continue;
        if (::fstatat(container.get(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISREG(status.st_mode) || may_be_written_to(container.get(), file, status, now_)) continue;
        list_.rotated.push_back({pod, name, below(shown, file), Bytes{status.st_blocks * block.value}});
    }
}

void LogLister::list_links() {
    const auto root = open_root(directories_.links);
    if (!root) return;
    std::size_t left = most_entries;
    for (const auto& name : names_in(root, directories_.links, left).others) {
        struct stat status {};
        if (::fstatat(root.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(status.st_mode))
            continue;
        const bool dangling = is_dangling(root, name);
        list_.links.push_back({below(directories_.links, name), container_of_log_link(name), dangling});
    }
}

bool LogLister::is_dangling(const sys::Fd& links, const std::string& name) const {
    return pods_ && leads_nowhere(links.get(), name, directories_.pods, pods_.get());
}

Status vanished_or(const std::string& what, int error) {
    return tl::unexpected(sys::fail_errno(printable(what), error).value());
}

Status no_such(const std::string& what, std::string_view why) {
    return fail(ErrorKind::invalid, printable(what), std::string(why));
}

}  // namespace

port::PodLogList PodLogs::list() { return LogLister(directories_, sys::SystemClock().wall()).run(); }

Status PodLogs::remove(GarbageKind kind, const std::string& id) {
    switch (kind) {
        case GarbageKind::log_directory:
            return remove_directory(id);
        case GarbageKind::log_link:
            return remove_link(id);
        case GarbageKind::rotated_log:
            return remove_rotated(id);
        case GarbageKind::container:
        case GarbageKind::sandbox:
        case GarbageKind::image:
        case GarbageKind::volume_directory:
        case GarbageKind::cgroup:
            break;
    }
    return no_such(id, "is no log");
}

Status PodLogs::remove_directory(const std::string& name) const {
    if (!is_plain_name(name)) return no_such(name, "is not the name of a directory");
    const sys::Fd root(::open(directories_.pods.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return vanished_or(directories_.pods, errno);
    const sys::SystemClock clock;
    const auto removal = remove_tree(root.get(), name.c_str(), clock, clock.monotonic() + longest_removal_);
    if (!removal) return tl::unexpected(removal.error());
    if (removal->is_done) return {};
    return fail(ErrorKind::failed, printable(name),
                "is larger than can be removed at once: " + std::to_string(removal->removed) +
                    " entries were, and the next removal goes on");
}

// A link that points somewhere again is a log's.
Status PodLogs::remove_link(const std::string& path) const {
    const std::string name(name_in(directories_.links, path));
    if (!is_plain_name(name)) return no_such(path, "is not in " + directories_.links);
    const sys::Fd root(::open(directories_.links.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return vanished_or(directories_.links, errno);
    struct stat status {};
    if (::fstatat(root.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return vanished_or(path, errno);
    if (!S_ISLNK(status.st_mode)) return no_such(path, "is no symbolic link");
    const sys::Fd pods(::open(directories_.pods.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!pods || !has_a_directory(pods.get()) || !leads_nowhere(root.get(), name, directories_.pods, pods.get())) {
        return no_such(path, "may point to a log");
    }
    return ::unlinkat(root.get(), name.c_str(), 0) == 0 ? Status{} : vanished_or(path, errno);
}

Status PodLogs::remove_rotated(const std::string& path) const {
    const auto inside = name_in(directories_.pods, path);
    const auto first = inside.find('/');
    const auto last = inside.rfind('/');
    if (last == std::string_view::npos || !is_plain_name(inside.substr(0, first)) || last <= first ||
        !is_plain_name(inside.substr(first + 1, last - first - 1)) || !is_rotated_log(inside.substr(last + 1))) {
        return no_such(path, "is not the path of a rotated log");
    }
    const std::string name(inside.substr(last + 1));
    const sys::Fd root(::open(directories_.pods.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return vanished_or(directories_.pods, errno);
    const auto directory =
        sys::open_directory_below(root.get(), std::string(inside.substr(0, last)).c_str(), sys::Mounts::refuse);
    if (!directory) return vanished_or(path, errno);
    struct stat status {};
    if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return vanished_or(path, errno);
    if (!S_ISREG(status.st_mode)) return no_such(path, "is no file");
    if (may_be_written_to(directory.get(), name, status, sys::SystemClock().wall())) {
        return no_such(path, "may still be written to");
    }
    return ::unlinkat(directory.get(), name.c_str(), 0) == 0 ? Status{} : vanished_or(path, errno);
}

}  // namespace evictd::disk
