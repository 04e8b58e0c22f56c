// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/remove_tree.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "evictd/model/text.hpp"
#include "sys/fd.hpp"
#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

// Names at random, for what is moved up: one that is taken is replaced by another.
constexpr int most_attempts = 3;
// Names of directories to be emptied, in all levels; beyond that each level remembers one and finds the others again.
constexpr std::size_t most_pending = std::size_t{1} << 20U;

Error refused(const char* name, int error) {
    if (error == ELOOP || error == ENOTDIR) return {ErrorKind::invalid, printable(name), "is no directory", ""};
    if (error == EXDEV) return {ErrorKind::invalid, printable(name), "something is mounted there", ""};
    return sys::fail_errno(printable(name), error).value();
}

// Of a directory. The number alone is another's as soon as this one is gone: of two with the same, one was born later.
// A filesystem that keeps no births has but the number.
struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t born = 0;
    std::uint32_t born_ns = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
};

Identity id_of(const sys::Fd& directory) {
    struct statx status {};
    if (::statx(directory.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &status) != 0) return {};
    const std::uint64_t device = (std::uint64_t{status.stx_dev_major} << 32U) | status.stx_dev_minor;
    if ((status.stx_mask & STATX_BTIME) == 0) return {device, status.stx_ino};
    return {device, status.stx_ino, status.stx_btime.tv_sec, status.stx_btime.tv_nsec};
}

// Goes down to a directory without directories, empties it, and up again by "..", if that still leads to where it came
// from: a directory may have been moved out of the tree meanwhile. Each function gives 0 or errno.
class Remover {
public:
    Remover(int parent, const char* name, const sys::Clock& clock, MonotonicTime deadline, std::size_t most_levels)
        : parent_(parent), name_(name), clock_(clock), deadline_(deadline), most_levels_(most_levels) {}
    Result<TreeRemoval> run();

private:
    struct Level {
        std::string name;
        Identity id;
        std::vector<std::string> pending{};  // directories in it that are not empty
    };
    [[nodiscard]] int enter(int parent, std::string name);
    [[nodiscard]] int restart();
    [[nodiscard]] int move_up(const std::string& name);
    [[nodiscard]] int turn();
    [[nodiscard]] int descend(Level& level);
    // Some of what is in the last level. False: there was nothing.
    [[nodiscard]] int remove_some(bool& any);
    [[nodiscard]] int remove_entry(Level& level, const char* name);
    [[nodiscard]] int leave();
    [[nodiscard]] sys::Fd open_above();
    [[nodiscard]] bool is_late() const { return clock_.monotonic() >= deadline_; }

    int parent_;
    const char* name_;
    const sys::Clock& clock_;
    MonotonicTime deadline_;
    std::size_t most_levels_;
    sys::Fd current_;  // of the last level
    std::vector<Level> levels_;
    std::size_t pending_ = 0;  // bytes of names, in all levels
    std::uint64_t removed_ = 0;
    EntryReader reader_;
};

// From the top again, if that is still there.
int Remover::restart() {
    levels_.clear();
    pending_ = 0;
    const int error = enter(parent_, name_);
    return error == ENOENT ? 0 : error;
}

// By handles, as all else: what is moved is in the tree before and after. It is found when the first level is read
// again.
int Remover::move_up(const std::string& name) {
    const auto first = sys::open_directory_below(parent_, name_, sys::Mounts::refuse);
    if (!first) return errno == ENOENT ? restart() : errno;
    if (id_of(first) != levels_.front().id) return restart();
    std::random_device random;
    int error = EEXIST;
    for (int i = 0; i < most_attempts && (error == EEXIST || error == ENOTEMPTY || error == ENOTDIR); ++i) {
        const auto taken = "evictd-" + std::to_string(random()) + std::to_string(random());
        error = ::renameat(current_.get(), name.c_str(), first.get(), taken.c_str()) == 0 ? 0 : errno;
    }
    return error;
}

int Remover::enter(int parent, std::string name) {
    if (levels_.size() >= most_levels_) return move_up(name);
    auto directory = sys::open_directory_below(parent, name.c_str(), sys::Mounts::refuse);
    if (!directory) return errno;
    const auto id = id_of(directory);
    if (id.inode == 0) return EIO;
    current_ = std::move(directory);
    levels_.push_back({std::move(name), id});
    return 0;
}

// What was a directory and is something else now is removed as what it is.
int Remover::descend(Level& level) {
    auto name = std::move(level.pending.back());
    level.pending.pop_back();
    pending_ -= name.size();
    const int error = enter(current_.get(), std::move(name));
    return error == ENOENT || error == ENOTDIR || error == ELOOP ? 0 : error;
}

int Remover::remove_entry(Level& level, const char* name) {
    int error = ::unlinkat(current_.get(), name, 0) == 0 ? 0 : errno;
    if (error == EISDIR || error == EPERM) {
        const int failed = ::unlinkat(current_.get(), name, AT_REMOVEDIR) == 0 ? 0 : errno;
        if (failed != ENOTDIR) error = failed;
    }
    if (error == 0) ++removed_;
    if (error == 0 || error == ENOENT) return 0;
    if (error != ENOTEMPTY && error != EEXIST && error != EBUSY) return error;
    if (pending_ >= most_pending && !level.pending.empty()) return 0;
    level.pending.emplace_back(name);
    pending_ += level.pending.back().size();
    return 0;
}

int Remover::remove_some(bool& any) {
    if (::lseek(current_.get(), 0, SEEK_SET) < 0) return errno;
    if (const int error = reader_.read(current_.get(), false); error != 0) return error == ENOENT ? 0 : error;
    any = !reader_.entries().empty();
    for (const auto& entry : reader_.entries()) {
        if (is_late()) return 0;
        if (const int error = remove_entry(levels_.back(), entry.name); error != 0) return error;
    }
    return 0;
}

// Invalid: the last level is not where it was.
sys::Fd Remover::open_above() {
    auto above = sys::open_directory_below(current_.get(), "..", sys::Mounts::refuse);
    if (!above || id_of(above) != levels_.back().id) above.reset();
    return above;
}

int Remover::leave() {
    const auto name = std::move(levels_.back().name);
    levels_.pop_back();
    sys::Fd above;
    if (!levels_.empty() && !(above = open_above())) {
        return restart();
    }
    const int error = ::unlinkat(above ? above.get() : parent_, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
    if (error == 0) ++removed_;
    const bool has_more = error == ENOTEMPTY || error == EEXIST;
    if (error != 0 && error != ENOENT && !has_more) return error;
    if (levels_.empty()) return has_more ? enter(parent_, name) : 0;
    current_ = std::move(above);
    return 0;
}

int Remover::turn() {
    if (!levels_.back().pending.empty()) return descend(levels_.back());
    bool any = false;
    if (const int error = remove_some(any); error != 0) return error;
    return any ? 0 : leave();
}

Result<TreeRemoval> Remover::run() {
    if (const int error = enter(parent_, name_); error != 0) return tl::unexpected(refused(name_, error));
    while (!levels_.empty() && !is_late()) {
        if (const int error = turn(); error != 0) {
            return tl::unexpected(refused(levels_.empty() ? name_ : levels_.back().name.c_str(), error));
        }
    }
    return TreeRemoval{levels_.empty(), removed_};
}

}  // namespace

Result<TreeRemoval> remove_tree(int parent, const char* name, const sys::Clock& clock, MonotonicTime deadline,
                                std::size_t most_levels) {
    return Remover(parent, name, clock, deadline, most_levels).run();
}

}  // namespace evictd::disk
