// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/empty_cgroups.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/cgroup_walk.hpp"
#include "sys/fd.hpp"
#include "sys/open_below.hpp"

namespace evictd::kernel {
namespace {

// A name and a number for each, some 20 MiB at most. Deeper ones stay.
constexpr std::size_t deepest = std::size_t{1} << 16U;

ino_t inode_of(const sys::Fd& directory) {
    struct stat status {};
    return ::fstat(directory.get(), &status) == 0 ? status.st_ino : 0;
}

// Goes down to a cgroup without others, removes it, and goes up again by "..": a cgroup is never moved to another
// parent.
class Remover {
public:
    Remover(int parent, const sys::Clock& clock, MonotonicTime deadline)
        : parent_(parent), clock_(clock), deadline_(deadline) {}
    [[nodiscard]] int run(const std::string& name);

private:
    struct Level {
        std::string name;
        ino_t inode = 0;
    };
    [[nodiscard]] int enter(int parent, std::string name);
    // The name of one below the last level; empty: there is none.
    [[nodiscard]] int find_child(std::string& name);
    [[nodiscard]] int leave();

    int parent_;
    const sys::Clock& clock_;
    MonotonicTime deadline_;
    sys::Fd current_;  // of the last level
    std::vector<Level> levels_;
};

int Remover::enter(int parent, std::string name) {
    if (levels_.size() >= deepest) return EMLINK;
    auto directory = sys::open_directory_below(parent, name.c_str(), sys::Mounts::refuse);
    if (!directory) return errno == ENOENT || errno == ENODEV ? 0 : errno;
    const auto inode = inode_of(directory);
    if (inode == 0) return EIO;
    current_ = std::move(directory);
    levels_.push_back({std::move(name), inode});
    return 0;
}

int Remover::find_child(std::string& name) {
    struct stat status {};
    if (::fstat(current_.get(), &status) != 0) return errno;
    if (status.st_nlink == leaf_links) return 0;
    if (::lseek(current_.get(), 0, SEEK_SET) < 0) return errno;
    alignas(dirent64) std::array<char, 4096> names{};
    while (true) {
        const ssize_t got = ::getdents64(current_.get(), names.data(), names.size());
        if (got <= 0) return got == 0 || errno == ENOENT ? 0 : errno;
        std::size_t at = 0;
        if (const auto* found = next_directory({names.data(), static_cast<std::size_t>(got)}, at)) {
            name = &found->d_name[0];
            return 0;
        }
    }
}

int Remover::leave() {
    const Level done = std::move(levels_.back());
    levels_.pop_back();
    sys::Fd above;
    if (!levels_.empty()) {
        above = sys::open_directory_below(current_.get(), "..", sys::Mounts::refuse);
        if (!above) return errno;
        if (inode_of(above) != levels_.back().inode) return EIO;
    }
    const int parent = above ? above.get() : parent_;
    const int error = ::unlinkat(parent, done.name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
    current_ = std::move(above);
    return error == ENOENT ? 0 : error;
}

int Remover::run(const std::string& name) {
    int error = enter(parent_, name);
    while (error == 0 && !levels_.empty()) {
        if (clock_.monotonic() >= deadline_) return ETIMEDOUT;
        std::string child;
        error = find_child(child);
        if (error != 0) break;
        error = child.empty() ? leave() : enter(current_.get(), std::move(child));
    }
    return error;
}

}  // namespace

int remove_empty_cgroups(int parent, const std::string& name, const sys::Clock& clock, MonotonicTime deadline) {
    return Remover(parent, clock, deadline).run(name);
}

}  // namespace evictd::kernel
