// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Depth first. A directory that has been read to its end and has one more to be entered is left for good, so that a
// chain of any length takes one level. Of many levels those in the middle are closed. The way back is "..", and where a
// directory was moved meanwhile, down again by names: a pod that moves directories hides nothing but them.
#include "disk/walk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "disk/inode_set.hpp"
#include "disk/walk_level.hpp"
#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

constexpr std::uint64_t entries_between_calls = 64;

bool is_vanished(int error) { return error == ENOENT || error == ESTALE; }

class Walk {
public:
    Walk(const WalkOptions& options, const GoOn& go_on)
        : options_(options), go_on_(go_on), directories_(options.limits.directories), linked_(options.limits.linked) {}
    TreeUsage run(sys::Fd root);

private:
    void turn();
    void read_some(Level& level);
    void take(Level& level, const Entry& entry);
    void take_name(Level& level, const char* name);
    void descend(Level& level);
    void enter(sys::Fd directory, const InodeId& id, std::string path);
    void keep_path(Level& level, std::string path);
    void leave();
    void drop_last();
    void come_back_by_names();
    void close_above();
    void count(const struct statx& status);
    void count_link(const struct statx& status);
    void note(const std::string& what);
    void note(const char* what, int error) { note(std::string(what) + ": " + std::strerror(error)); }
    void stop(const char* why);
    [[nodiscard]] bool may_go_on();

    const WalkOptions& options_;
    const GoOn& go_on_;
    TreeUsage usage_;
    std::vector<Level> levels_;
    std::size_t first_open_ = 1;  // of levels_: those before it are closed, but for the first, which never is
    std::size_t name_bytes_ = 0;  // held for names and paths in all levels
    std::uint64_t entries_ = 0;
    std::uint64_t entries_told_ = 0;
    double part_inodes_ = 0;  // of files whose links are counted one by one
    bool is_stopped_ = false;
    InodeSet directories_;  // one that is renamed meanwhile is met twice
    InodeSet linked_;
    EntryReader reader_;
};

// Only the first reason is reported.
void Walk::note(const std::string& what) {
    if (usage_.complete) usage_.trouble = what;
    usage_.complete = false;
}

void Walk::stop(const char* why) {
    note(why);
    is_stopped_ = true;
}

bool Walk::may_go_on() {
    if (entries_ - entries_told_ < entries_between_calls) return !is_stopped_;
    if (!is_stopped_ && !go_on_(entries_ - std::exchange(entries_told_, entries_))) stop("cancelled");
    if (!is_stopped_ && entries_ > options_.limits.entries)
        stop("more entries than a filesystem holds: it keeps changing");
    return !is_stopped_;
}

void Walk::count_link(const struct statx& status) {
    switch (linked_.add(inode_of(status))) {
        case InodeSet::Answer::known:
            return;
        case InodeSet::Answer::added:
            usage_.used += Bytes{static_cast<std::int64_t>(status.stx_blocks * 512)};
            ++usage_.inodes;
            return;
        case InodeSet::Answer::full:
            usage_.used += Bytes{static_cast<std::int64_t>(status.stx_blocks * 512 / status.stx_nlink)};
            part_inodes_ += 1.0 / status.stx_nlink;
            return note("more files with several links than are remembered");
    }
}

void Walk::count(const struct statx& status) {
    if (!S_ISDIR(status.stx_mode) && status.stx_nlink > 1) return count_link(status);
    usage_.used += Bytes{static_cast<std::int64_t>(status.stx_blocks * 512)};
    ++usage_.inodes;
}

void Walk::take_name(Level& level, const char* name) {
    if (options_.depth == Depth::one_directory) return;
    const std::size_t others = name_bytes_ - level.names.held();
    const std::size_t most = options_.limits.most_names - std::min(options_.limits.most_names, name_bytes_);
    if (!level.names.add(name, most)) note("more directories beside each other than are remembered");
    name_bytes_ = others + level.names.held();
}

void Walk::take(Level& level, const Entry& entry) {
    ++entries_;
    if (entry.may_be_directory == IsDirectory::yes) return take_name(level, entry.name);
    struct statx status {};
    if (const int error = status_of(level.directory.get(), entry.name, status); error != 0) {
        if (!is_vanished(error)) note("a file cannot be examined", error);
        return;
    }
    if (S_ISDIR(status.stx_mode)) return take_name(level, entry.name);
    if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0) count(status);
}

void Walk::read_some(Level& level) {
    const bool is_frugal = name_bytes_ >= options_.limits.names;
    const int error = reader_.read(level.directory.get(), is_frugal);
    // A directory that was removed has no entries.
    if (error != 0 && !is_vanished(error)) note("a directory cannot be listed", error);
    if (error != 0 || reader_.entries().empty()) {
        level.at_end = true;
        return;
    }
    for (const auto& entry : reader_.entries()) {
        take(level, entry);
        if (!may_go_on()) return;
    }
}

void Walk::descend(Level& level) {
    auto directory = sys::open_directory_below(level.directory.get(), level.names.front(), sys::Mounts::refuse);
    const int error = directory ? 0 : errno;
    std::string path = level.names.front();
    const std::size_t others = name_bytes_ - level.names.held();
    level.names.drop_front();
    name_bytes_ = others + level.names.held();
    // EXDEV: a mount point. ELOOP, ENOTDIR: it was a directory a moment ago.
    if (error != 0) {
        if (!is_vanished(error) && error != EXDEV && error != ELOOP && error != ENOTDIR) {
            note("a directory cannot be opened", error);
        }
        return;
    }
    struct statx status {};
    if (const int failed = status_of(directory.get(), "", status); failed != 0) {
        return note("a directory cannot be examined", failed);
    }
    const auto id = inode_of(status);
    if (directories_.add(id) == InodeSet::Answer::known) return;
    count(status);
    enter(std::move(directory), id, std::move(path));
}

void Walk::enter(sys::Fd directory, const InodeId& id, std::string path) {
    const bool is_last = !levels_.empty() && !levels_.back().has_more();
    if (!is_last && levels_.size() >= options_.limits.levels) {
        return note("directories are nested deeper than are followed", ELOOP);
    }
    Level level;
    level.directory = std::move(directory);
    level.id = id;
    level.above = 1;
    if (is_last) {
        const Level& last = levels_.back();
        level.above += last.above;
        path = last.path.empty() ? std::string() : last.path + '/' + path;
        drop_last();
        first_open_ = std::max<std::size_t>(1, std::min(first_open_, levels_.size()));
    }
    keep_path(level, std::move(path));
    levels_.push_back(std::move(level));
    close_above();
}

void Walk::keep_path(Level& level, std::string path) {
    if (path.size() >= PATH_MAX || name_bytes_ + path.size() > options_.limits.most_names) return;
    name_bytes_ += path.size();
    level.path = std::move(path);
}

void Walk::drop_last() {
    name_bytes_ -= levels_.back().path.size() + levels_.back().names.held();
    levels_.pop_back();
}

// The lowest is needed last.
void Walk::close_above() {
    if (levels_.size() <= first_open_ + options_.limits.open_directories) return;
    auto& level = levels_[first_open_++];
    level.position = ::lseek(level.directory.get(), 0, SEEK_CUR);
    level.directory.reset();
}

// To the lowest level that is still where it was. What was left to be read below is not counted.
void Walk::come_back_by_names() {
    note("a directory was moved while it was read");
    std::size_t reached = 0;
    while (reached + 1 < levels_.size() && reopen_by_name(levels_[reached], levels_[reached + 1])) {
        if (reached > 0) levels_[reached].directory.reset();
        ++reached;
    }
    while (levels_.size() > reached + 1) drop_last();
    first_open_ = std::max<std::size_t>(1, reached);
}

void Walk::leave() {
    const sys::Fd below = std::move(levels_.back().directory);
    const std::size_t steps = levels_.back().above;
    drop_last();
    if (levels_.empty() || levels_.back().directory) return;
    first_open_ = levels_.size() - 1;
    if (!reopen_from_below(levels_.back(), below.get(), steps)) come_back_by_names();
}

void Walk::turn() {
    auto& level = levels_.back();
    // The last that is known is entered once it is known whether it is the last of all.
    if (!level.names.empty() && (level.at_end || !level.names.has_one())) {
        descend(level);
    } else if (!level.at_end) {
        read_some(level);
    } else {
        leave();
    }
}

TreeUsage Walk::run(sys::Fd root) {
    struct statx status {};
    if (const int error = status_of(root.get(), "", status); error != 0) {
        note("it cannot be examined", error);
        return usage_;
    }
    count(status);
    if (S_ISDIR(status.stx_mode)) {
        (void)directories_.add(inode_of(status));
        enter(std::move(root), inode_of(status), {});
    }
    while (!levels_.empty() && may_go_on()) turn();
    usage_.inodes += static_cast<std::int64_t>(part_inodes_);
    return usage_;
}

}  // namespace

TreeUsage walk(sys::Fd root, const WalkOptions& options, const GoOn& go_on) {
    // 64 KiB and more: not on the stack of a lane.
    return std::make_unique<Walk>(options, go_on)->run(std::move(root));
}

}  // namespace evictd::disk
