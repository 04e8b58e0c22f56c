// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/log_checks.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string_view>

#include <fcntl.h>
#include <linux/limits.h>
#include <linux/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "disk/entries.hpp"
#include "evictd/model/log_names.hpp"
#include "sys/open_below.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;

constexpr Duration quiet_for = 1min;

template <class Time>
WallTime wall_time(const Time& time) {
    return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

bool is_other_log(const struct statx& live, const struct stat& rotated) {
    const bool same_device =
        live.stx_dev_major == gnu_dev_major(rotated.st_dev) && live.stx_dev_minor == gnu_dev_minor(rotated.st_dev);
    return S_ISREG(live.stx_mode) && !(same_device && live.stx_ino == rotated.st_ino);
}

// Each component of it leads down.
bool is_plain_path(std::string_view path) {
    while (!path.empty()) {
        const auto end = std::min(path.find('/'), path.size());
        if (!is_plain_name(path.substr(0, end))) return false;
        path.remove_prefix(end);
        if (path == "/") return false;
        if (!path.empty()) path.remove_prefix(1);
    }
    return true;
}

}  // namespace

bool may_be_written_to(int directory, const std::string& rotated, const struct stat& status, WallTime now) {
    constexpr unsigned mask = STATX_TYPE | STATX_INO | STATX_MTIME | STATX_BTIME;
    const std::string live(live_log_of(rotated));
    struct statx found {};
    if (live.empty()) return true;
    if (::statx(directory, live.c_str(), AT_SYMLINK_NOFOLLOW, mask, &found) != 0) return true;
    if (!is_other_log(found, status)) return true;
    const auto last_write = wall_time(status.st_mtim);
    const bool made_later = (found.stx_mask & STATX_BTIME) != 0 && wall_time(found.stx_btime) > last_write;
    return !made_later && wall_time(found.stx_mtime) <= last_write && now - last_write <= quiet_for;
}

bool leads_nowhere(int links, const std::string& name, const std::string& pods_path, int pods) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(links, name.c_str(), text.data(), text.size());
    if (size < 0 || static_cast<std::size_t>(size) == text.size()) return false;
    const std::string_view target(text.data(), static_cast<std::size_t>(size));
    if (!target.starts_with(pods_path + "/")) return false;
    const std::string below(target.substr(pods_path.size() + 1));
    if (below.empty() || !is_plain_path(below)) return false;
    return !sys::open_below(pods, below.c_str(), O_PATH, sys::Mounts::refuse) && errno == ENOENT;
}

bool has_a_directory(int directory) {
    EntryReader reader;
    if (::lseek(directory, 0, SEEK_SET) < 0) return false;
    while (reader.read(directory, false) == 0 && !reader.entries().empty()) {
        for (const auto& entry : reader.entries()) {
            struct stat status {};
            if (entry.may_be_directory == IsDirectory::yes) return true;
            if (entry.may_be_directory == IsDirectory::no) continue;
            if (::fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace evictd::disk
