// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_walk.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evictd/model/ascii.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

// Levels that are kept open while their children are walked, the deepest ones. One further up is opened again by "..",
// and read again up to the child that the walk comes back from. Fewer read more often; each takes one descriptor and a
// buffer.
constexpr std::size_t open_levels = 32;
constexpr std::size_t names_at_once = 4096;  // bytes; must hold the longest name there is

// A directory whose children are walked.
struct Level {
    ino_t inode = 0;
    sys::Fd directory;  // closed: too far up
    std::vector<char> names;
    std::size_t at = 0;      // in `names`
    std::size_t filled = 0;  // of `names`
};

class Walker {
public:
    explicit Walker(const std::function<Walk(int)>& visit) : visit_(visit) {}

    Status walk(int top);

private:
    struct Child {
        std::string name;
        ino_t inode = 0;
    };
    [[nodiscard]] bool enter(int directory);
    [[nodiscard]] std::optional<Child> next_child(Level& level);
    [[nodiscard]] bool fill(Level& level);
    void leave();
    void open_again(Level& parent, const Level& child);
    void note(int error_number, const char* what);

    const std::function<Walk(int)>& visit_;
    std::vector<Level> levels_;
    std::size_t first_open_ = 0;  // of levels_
    Status result_;
};

void Walker::note(int error_number, const char* what) {
    const bool gone = error_number == ENOENT || error_number == ENODEV;
    if (!gone && result_) {
        result_ = sys::fail_errno(what, error_number);
    }
}

// Visits it, and goes below it if it has children. False: stop.
bool Walker::enter(int directory) {
    if (visit_(directory) == Walk::stop) {
        return false;
    }
    // A cgroup's directory has two links and one more for each cgroup below it. Most are leaves, and reading through
    // their control files' names is what would cost most here.
    struct stat status {};
    if (fstat(directory, &status) != 0 || status.st_nlink == leaf_links) {
        return true;
    }
    // Opened again: the caller's handle keeps its position.
    sys::Fd own(::openat(directory, ".", directory_flags | O_CLOEXEC));
    if (!own) {
        note(errno, "opening a cgroup");
        return true;
    }
    levels_.push_back({status.st_ino, std::move(own), {}, 0, 0});
    if (levels_.size() - first_open_ > open_levels) {
        Level& far = levels_[first_open_++];
        far = Level{.inode = far.inode, .directory = {}, .names = {}};
    }
    return true;
}

bool Walker::fill(Level& level) {
    level.names.resize(names_at_once);
    const ssize_t got = getdents64(level.directory.get(), level.names.data(), level.names.size());
    if (got < 0) {
        note(errno, "listing a cgroup");
    }
    level.at = 0;
    level.filled = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got > 0;
}

// None: there are no more.
std::optional<Walker::Child> Walker::next_child(Level& level) {
    while (level.at < level.filled || fill(level)) {
        if (const auto* entry = next_directory({level.names.data(), level.filled}, level.at)) {
            return Child{&entry->d_name[0], entry->d_ino};
        }
    }
    return std::nullopt;
}

void Walker::leave() {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    if (!levels_.empty() && first_open_ == levels_.size()) {
        first_open_--;
        open_again(levels_.back(), done);
    }
}

// A cgroup is never moved to another parent (v1 renames it in place), and keeps it when it is removed. If the child was
// removed meanwhile its place in the list is unknown, and all the parent's children are visited again.
void Walker::open_again(Level& parent, const Level& child) {
    parent.directory = sys::Fd(::openat(child.directory.get(), "..", directory_flags | O_CLOEXEC));
    struct stat status {};
    if (!parent.directory || fstat(parent.directory.get(), &status) != 0 || status.st_ino != parent.inode) {
        // Never "gone": there may be more of its children.
        note(parent.directory || errno == ENOENT || errno == ENODEV ? EIO : errno, "opening a cgroup again");
        parent.directory.reset();
        return;
    }
    while (const auto known = next_child(parent)) {
        if (known->inode == child.inode) {
            return;
        }
    }
    (void)lseek(parent.directory.get(), 0, SEEK_SET);
    parent.at = parent.filled = 0;
}

Status Walker::walk(int top) {
    if (!enter(top)) {
        return result_;
    }
    while (!levels_.empty()) {
        Level& level = levels_.back();
        const auto child = level.directory ? next_child(level) : std::nullopt;
        if (!child) {
            leave();
            continue;
        }
        const sys::Fd directory(::openat(level.directory.get(), child->name.c_str(), directory_flags | O_CLOEXEC));
        if (!directory) {
            note(errno, "opening a cgroup");
        } else if (!enter(directory.get())) {
            break;
        }
    }
    return result_;
}

}  // namespace

const dirent64* next_directory(std::span<const char> entries, std::size_t& at) {
    while (at < entries.size()) {
        // The kernel lays the records out so that each is aligned.
        const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);  // NOLINT(*-reinterpret-cast)
        at += entry->d_reclen;
        const std::string_view name(&entry->d_name[0]);
        if (entry->d_type == DT_DIR && name != "." && name != "..") {
            return entry;
        }
    }
    return nullptr;
}

Status walk_cgroups(int directory, const std::function<Walk(int directory)>& visit) {
    return Walker(visit).walk(directory);
}

Status read_pids(int file, const std::function<Walk(int pid)>& visit) {
    std::array<char, 4096> text{};
    int pid = 0;
    while (true) {
        const ssize_t got = ::read(file, text.data(), text.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got == 0 || (got < 0 && errno == EOPNOTSUPP)) {
            return {};
        }
        if (got < 0) {
            return sys::fail_errno("cgroup.procs", errno);
        }
        for (const char letter : std::string_view(text.data(), static_cast<std::size_t>(got))) {
            if (is_digit(letter)) {
                pid = pid * 10 + (letter - '0');
            } else if (const int whole = std::exchange(pid, 0); whole > 0 && visit(whole) == Walk::stop) {
                return {};
            }
        }
    }
}

}  // namespace evictd::kernel
