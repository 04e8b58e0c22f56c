// SPDX-License-Identifier: Apache-2.0
// The order matters everywhere here: watch first, look afterwards.
#include "kube/directory_watch.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <utility>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evictd::kube {
namespace {

constexpr std::uint32_t names_of_a_parent = IN_ONLYDIR | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM;
constexpr std::uint32_t all_of_the_directory =
    names_of_a_parent | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

// While directories are made as fast as we look, at most this often; the next event then leads on.
constexpr int most_attempts = 10;

bool is_absent(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

bool exists(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
}

tl::unexpected<Error> fail_inotify(const std::string& directory, int error_number) {
    const bool is_used_up = error_number == EMFILE || error_number == ENOSPC;
    return sys::fail_errno(directory + ": inotify", error_number,
                           std::string(is_used_up ? "raise fs.inotify.max_user_instances and max_user_watches; " : "") +
                               "until then it is looked at every second");
}

}  // namespace

DirectoryWatch::DirectoryWatch(sys::Fd inotify, std::string directory)
    : inotify_(std::move(inotify)), directory_(std::move(directory)) {}

Result<DirectoryWatch> DirectoryWatch::make(std::string directory) {
    sys::Fd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!inotify) return fail_inotify(directory, errno);
    return DirectoryWatch(std::move(inotify), std::move(directory));
}

int DirectoryWatch::watch_directory(std::map<int, std::string>& found) const {
    const int watch = ::inotify_add_watch(inotify_.get(), directory_.c_str(), all_of_the_directory);
    if (watch < 0) return errno;
    found[watch].clear();
    return 0;
}

// Returns the path whose appearance the watch tells of, empty if nothing above can be watched.
std::string DirectoryWatch::watch_above(std::map<int, std::string>& found) const {
    std::filesystem::path child = directory_;
    while (child.has_relative_path()) {
        const auto parent = child.parent_path();
        const int watch = ::inotify_add_watch(inotify_.get(), parent.c_str(), names_of_a_parent);
        if (watch >= 0) {
            found[watch] = child.filename();
            return child;
        }
        if (!is_absent(errno)) return {};
        child = parent;
    }
    return {};
}

Status DirectoryWatch::renew() {
    std::map<int, std::string> found;
    int error_number = 0;
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        found.clear();
        const std::string awaited = watch_above(found);
        error_number = watch_directory(found);
        // Missing, while what we wait for is there: it was made between the two calls.
        if (!is_absent(error_number) || !exists(awaited)) break;
    }
    for (const auto& [watch, name] : std::exchange(watched_, found))
        if (!found.contains(watch)) ::inotify_rm_watch(inotify_.get(), watch);
    if (error_number == 0 || (is_absent(error_number) && !found.empty())) return {};
    return fail_inotify(directory_, error_number);
}

void DirectoryWatch::take(const inotify_event& event, Changes& changes) const {
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
        changes.any = changes.lost = true;
        return;
    }
    const auto watch = watched_.find(event.wd);
    if (watch == watched_.end()) return;  // one we have given up
    const std::string name = event.len > 0 ? &event.name[0] : "";
    if (!watch->second.empty()) {
        changes.any = changes.any || name == watch->second;
        return;
    }
    struct stat status {};
    const bool is_begun =
        (event.mask & IN_MODIFY) != 0 ||
        // A link, a directory or a FIFO is complete when it is made; only a plain file is written afterwards.
        ((event.mask & IN_CREATE) != 0 && ::lstat((directory_ + "/" + name).c_str(), &status) == 0 &&
         S_ISREG(status.st_mode) && status.st_nlink == 1);
    if (is_begun) {
        changes.complete.erase(name);
        changes.begun.insert(name);
        return;
    }
    changes.any = true;
    if ((event.mask & IN_ATTRIB) != 0) return;  // may come while it is being written; its stat has changed anyway
    changes.begun.erase(name);
    changes.complete.insert(name);
}

DirectoryWatch::Changes DirectoryWatch::read() {
    Changes changes;
    alignas(inotify_event) std::array<char, 16384> buffer{};
    while (true) {
        const ssize_t got = ::read(inotify_.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return changes;
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
            take(*event, changes);
            at += sizeof(inotify_event) + event->len;
        }
    }
}

}  // namespace evictd::kube
