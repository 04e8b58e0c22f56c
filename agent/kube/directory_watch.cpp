// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
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

constexpr std::uint32_t names_of_a_parent =
    IN_ONLYDIR | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t all_of_the_directory = names_of_a_parent | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB;

bool is_absent(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

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

// From the top down: whatever comes into being below a directory that is already watched is an event.
Status DirectoryWatch::renew() {
    std::map<int, std::string> found;
    std::filesystem::path above;
    for (const auto& name : std::filesystem::path(directory_)) {
        const int watch = above.empty() ? -1 : ::inotify_add_watch(inotify_.get(), above.c_str(), names_of_a_parent);
        // One that is missing will be an event; one that may not be read is done without.
        if (watch >= 0) found[watch] = name;
        above /= name;
    }
    const int watch = ::inotify_add_watch(inotify_.get(), directory_.c_str(), all_of_the_directory);
    const int error_number = watch < 0 ? errno : 0;
    if (watch >= 0) found[watch].clear();
    for (const auto& [old, name] : std::exchange(watched_, found))
        if (!found.contains(old)) ::inotify_rm_watch(inotify_.get(), old);
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
    if (name.empty() || !watch->second.empty()) {  // of the watched one itself, or of a directory above
        changes.any = changes.any || name.empty() || name == watch->second;
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
