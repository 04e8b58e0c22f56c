// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "reconcile/ledger_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"
#include "sys/file.hpp"
#include "sys/own_directory.hpp"

namespace evictd::reconcile {
namespace {

struct CloseDirectory {
    void operator()(DIR* directory) const { (void)closedir(directory); }
};

struct Place {
    sys::Fd directory;
    std::string name;
};

Result<Place> place_of(const std::string& path, bool make) {
    const auto slash = path.rfind('/');
    const std::string above = path.substr(0, slash);
    auto directory = make ? sys::make_own_directories(above, sys::Access::readable)
                          : sys::open_own_directory(above, sys::Access::readable, false);
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    return Place{std::move(*directory), path.substr(slash + 1)};
}

// A name of this writer's own, so that no other can take the half-written file for its own.
Status write_whole(const Place& place, const std::string& path, const std::string& text) {
    const std::string fresh = place.name + "." + std::to_string(gettid()) + ".new";
    const int at = place.directory.get();
    (void)unlinkat(at, fresh.c_str(), 0);  // of a process that was killed and had the same id
    auto file = sys::openat(at, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    auto written = file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
    if (written && renameat(at, fresh.c_str(), at, place.name.c_str()) != 0) {
        written = sys::fail_errno(path, errno);
    }
    if (!written) {
        (void)unlinkat(at, fresh.c_str(), 0);
    }
    return written;
}

}  // namespace

std::string boot_id() {
    auto text = sys::read_file("/proc/sys/kernel/random/boot_id", 4096).value_or("");
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
}

Status write_ledger(const std::string& path, const std::string& text) {
    const auto place = place_of(path, !text.empty());
    if (!place) {
        const bool nothing_to_remove = text.empty() && place.error().kind == ErrorKind::vanished;
        return nothing_to_remove ? Status{} : tl::unexpected(place.error());
    }
    if (!text.empty()) {
        return write_whole(*place, path, text);
    }
    const bool gone = unlinkat(place->directory.get(), place->name.c_str(), 0) == 0 || errno == ENOENT;
    return gone ? Status{} : sys::fail_errno(path, errno);
}

Status append_ledger(const std::string& path, const std::string& text) {
    const auto place = place_of(path, false);
    if (!place) {
        return tl::unexpected(place.error());
    }
    const auto file = sys::openat(place->directory.get(), place->name, O_WRONLY | O_APPEND | O_NOFOLLOW);
    return file ? sys::write_text(file->get(), text) : tl::unexpected<Error>(file.error());
}

Result<std::optional<std::string>> read_ledger(const std::string& path, std::size_t limit) {
    const auto place = place_of(path, false);
    if (!place && place.error().kind == ErrorKind::vanished) {
        return std::nullopt;
    }
    if (!place) {
        return tl::unexpected(place.error());
    }
    const sys::Fd file(::openat(place->directory.get(), place->name.c_str(),
                                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file && errno == ENOENT) {
        return std::nullopt;
    }
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) {
        return sys::fail_errno(path, errno, errno == ELOOP ? "it is a symbolic link: remove it" : "");
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(ErrorKind::invalid, path, "not a regular file owned by this user, or writable by others",
                    "remove it");
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size > limit) {
        return fail(ErrorKind::invalid, path, "has more than " + std::to_string(limit) + " bytes", "remove it");
    }
    auto text = sys::read_all(file.get(), size);
    return text ? Result<std::optional<std::string>>(std::move(*text)) : tl::unexpected(text.error());
}

void remove_unfinished(const std::string& path) {
    const auto place = place_of(path, false);
    if (!place) {
        return;
    }
    auto opened = sys::openat(place->directory.get(), ".", O_RDONLY | O_DIRECTORY);
    const std::unique_ptr<DIR, CloseDirectory> listing(opened ? fdopendir(opened->get()) : nullptr);
    if (!listing) {
        return;
    }
    (void)opened->release();  // the listing's now
    while (const auto* entry = ::readdir(listing.get())) {
        const std::string_view name(entry->d_name);
        if (name.starts_with(place->name + ".") && name.ends_with(".new")) {
            (void)unlinkat(place->directory.get(), entry->d_name, 0);
        }
    }
}

Status set_aside(const std::string& path) {
    const auto place = place_of(path, false);
    if (!place) {
        return tl::unexpected(place.error());
    }
    const int at = place->directory.get();
    const std::string broken = place->name + ".broken";
    return renameat(at, place->name.c_str(), at, broken.c_str()) == 0 ? Status{} : sys::fail_errno(path, errno);
}

}  // namespace evictd::reconcile
