// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/own_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace evictd::sys {
namespace {

constexpr mode_t own_mode = 0700;

struct Walk {
    Fd at;             // the directory reached so far
    std::string path;  // its path, for messages
    bool make_parents = false;
};

bool is_trusted(uid_t owner) { return owner == 0 || owner == ::geteuid(); }

tl::unexpected<Error> refuse(const std::string& path, const std::string& why, const std::string& remedy) {
    return fail(ErrorKind::invalid, path, why, remedy);
}

Status check_parent(const struct stat& status, const std::string& path) {
    if (!S_ISDIR(status.st_mode)) {
        return refuse(path, "is not a directory", "remove it, or choose another path");
    }
    if (!is_trusted(status.st_uid)) {
        return refuse(path, "belongs to user " + std::to_string(status.st_uid), "chown root " + path);
    }
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0) {
        return refuse(path, "others may write to it", "chmod go-w " + path);
    }
    return {};
}

Status check_last(const struct stat& status, const std::string& path, Access access) {
    if (S_ISLNK(status.st_mode)) {
        return refuse(path, "is a symbolic link", "remove it, or choose another path");
    }
    if (!S_ISDIR(status.st_mode)) {
        return refuse(path, "is not a directory", "remove it, or choose another path");
    }
    if (status.st_uid != ::geteuid()) {
        return refuse(path, "belongs to user " + std::to_string(status.st_uid),
                      "remove it (rm -r " + path + "): it is made again");
    }
    const mode_t others = access == Access::only_ours ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH;
    if ((status.st_mode & others) != 0) {
        return refuse(path, access == Access::only_ours ? "others may enter it" : "others may write to it",
                      access == Access::only_ours ? "chmod 0700 " + path : "chmod go-w " + path);
    }
    return {};
}

// The next component of `rest`, which loses it. Empty: there is none.
std::string next_of(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const auto end = std::min(rest.find('/'), rest.size());
    std::string name(rest.substr(0, end));
    rest.remove_prefix(end);
    return name;
}

bool is_last(std::string_view rest) { return rest.find_first_not_of('/') == std::string_view::npos; }

// Into a directory above the last. Root's own links (/var/run) are followed: only root can change where they lead.
Status enter_parent(Walk& walk, const std::string& name) {
    const std::string path = walk.path + "/" + name;
    if (walk.make_parents && ::mkdirat(walk.at.get(), name.c_str(), own_mode) != 0 && errno != EEXIST) {
        return fail_errno(path, errno, errno == EROFS ? "choose another path" : "");
    }
    Fd next(::openat(walk.at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!next || ::fstat(next.get(), &status) != 0) {
        return fail_errno(path, errno);
    }
    if (S_ISLNK(status.st_mode)) {
        if (!is_trusted(status.st_uid)) {
            return refuse(path, "is a symbolic link of user " + std::to_string(status.st_uid), "remove it");
        }
        next = Fd(::openat(walk.at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!next || ::fstat(next.get(), &status) != 0) {
            return fail_errno(path, errno);
        }
    }
    if (auto checked = check_parent(status, path); !checked) {
        return checked;
    }
    walk.at = std::move(next);
    walk.path = path;
    return {};
}

Result<Fd> enter_last(const Fd& parent, const std::string& above, const std::string& name, Access access, bool make) {
    const std::string path = above + "/" + name;
    if (make && ::mkdirat(parent.get(), name.c_str(), own_mode) != 0 && errno != EEXIST) {
        return fail_errno(path, errno, errno == EROFS ? "choose another path" : "");
    }
    const Fd last(::openat(parent.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!last || ::fstat(last.get(), &status) != 0) {
        return fail_errno(path, errno);
    }
    if (auto checked = check_last(status, path, access); !checked) {
        return tl::unexpected(checked.error());
    }
    // The same directory, now to be listed and locked.
    Fd readable(::openat(last.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return readable ? Result<Fd>(std::move(readable)) : fail_errno(path, errno);
}

Result<Fd> walk_to(const std::string& path, Access access, bool make, bool make_parents) {
    if (!path.starts_with('/') || is_last(path)) {
        return refuse(path, "not an absolute path", "choose another path");
    }
    auto root = open("/", O_PATH | O_DIRECTORY);
    if (!root) {
        return root;
    }
    Walk walk{std::move(*root), "", make_parents};
    std::string_view rest = path;
    for (auto name = next_of(rest);; name = next_of(rest)) {
        if (name == "." || name == "..") {
            return refuse(path, "contains " + name, "choose another path");
        }
        if (is_last(rest)) {
            return enter_last(walk.at, walk.path, name, access, make);
        }
        if (auto entered = enter_parent(walk, name); !entered) {
            return tl::unexpected(entered.error());
        }
    }
}

}  // namespace

Result<Fd> open_own_directory(const std::string& path, Access access, bool make) {
    return walk_to(path, access, make, false);
}

Result<Fd> open_own_directory_at(const Fd& parent, const std::string& path, const std::string& name, Access access,
                                 bool make) {
    return enter_last(parent, path, name, access, make);
}

Result<Fd> make_own_directories(const std::string& path, Access access) { return walk_to(path, access, true, true); }

}  // namespace evictd::sys
