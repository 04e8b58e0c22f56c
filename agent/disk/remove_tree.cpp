// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/remove_tree.hpp"

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "disk/open_below.hpp"
#include "evictd/model/text.hpp"
#include "sys/fd.hpp"

namespace evictd::disk {
namespace {

constexpr std::size_t deepest = 4096;  // deeper than any path; only root makes directories there
// Directories that are opened on the way: some other program may add to the tree all the time.
constexpr int most_steps = 1 << 20;

Error refused(const char* name, int error) {
    if (error == ELOOP || error == ENOTDIR) return {ErrorKind::invalid, printable(name), "is no directory", ""};
    if (error == EXDEV) return {ErrorKind::invalid, printable(name), "something is mounted there", ""};
    return sys::fail_errno(printable(name), error).value();
}

// Goes down to a directory without directories, empties it, and up again by name: ".." leads elsewhere where a
// directory was moved meanwhile.
class Remover {
public:
    Remover(int parent, const char* name) : parent_(parent), path_{name} {}
    Status run();

private:
    // Opens path_ from `parent_`, one component after the other.
    [[nodiscard]] sys::Fd open_path();
    // Removes what is no directory. The first directory is pushed to path_.
    [[nodiscard]] int empty(int directory);
    [[nodiscard]] int remove_last();

    int parent_;
    std::vector<std::string> path_;
    EntryReader reader_;
};

sys::Fd Remover::open_path() {
    auto directory = open_directory_below(parent_, path_.front().c_str(), Mounts::refuse);
    for (std::size_t i = 1; directory && i < path_.size(); ++i) {
        directory = open_directory_below(directory.get(), path_[i].c_str(), Mounts::refuse);
    }
    return directory;
}

int Remover::empty(int directory) {
    if (::lseek(directory, 0, SEEK_SET) < 0) return errno;
    for (;;) {
        if (const int error = reader_.read(directory, false); error != 0) return error;
        if (reader_.entries().empty()) return 0;
        for (const auto& entry : reader_.entries()) {
            const bool gone = ::unlinkat(directory, entry.name, 0) == 0 || errno == ENOENT;
            if (gone) continue;
            if (errno != EISDIR && errno != EPERM) return errno;
            struct stat status {};
            if (::fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
            if (!S_ISDIR(status.st_mode)) return EPERM;
            path_.emplace_back(entry.name);
            return 0;
        }
    }
}

// The directory above is opened anew: it may have been moved.
int Remover::remove_last() {
    const std::string name = path_.back();
    path_.pop_back();
    sys::Fd above;
    if (!path_.empty() && !(above = open_path())) return errno;
    const int in = path_.empty() ? parent_ : above.get();
    return ::unlinkat(in, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

Status Remover::run() {
    for (int step = 0; !path_.empty(); ++step) {
        const auto directory = open_path();
        if (!directory && errno == ENOENT && step > 0) {
            path_.pop_back();
            continue;
        }
        if (!directory) return tl::unexpected(refused(path_.back().c_str(), errno));
        if (path_.size() > deepest || step >= most_steps) {
            return fail(ErrorKind::failed, printable(path_.front()), "has too many directories, or grows all the time");
        }
        const auto depth = path_.size();
        if (const int error = empty(directory.get()); error != 0) {
            return tl::unexpected(refused(path_.back().c_str(), error));
        }
        if (path_.size() > depth) continue;
        const std::string name = path_.back();
        if (const int error = remove_last(); error != 0) return tl::unexpected(refused(name.c_str(), error));
    }
    return {};
}

}  // namespace

Status remove_tree(int parent, const char* name) { return Remover(parent, name).run(); }

}  // namespace evictd::disk
