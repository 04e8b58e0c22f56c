// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/scratch.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::demo {
namespace {

constexpr std::string_view demo_prefix = "evictd-demo-";
constexpr std::string_view pattern = ".XXXXXX";

std::vector<std::string> places() {
    std::vector<std::string> paths;
    const char* chosen = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (chosen != nullptr && *chosen == '/') {
        paths.emplace_back(chosen);
    }
    paths.insert(paths.end(), {"/var/tmp", "/tmp"});
    return paths;
}

// Why files of `room` bytes cannot be written and cached in `path`; empty: they can.
std::string objection(const std::string& path, Bytes room) {
    struct statfs fs {};
    if (statfs(path.c_str(), &fs) != 0) {
        return "is not there";
    }
    const auto kind = static_cast<unsigned long>(fs.f_type);
    if (kind == TMPFS_MAGIC || kind == RAMFS_MAGIC) {
        return "lies in memory";
    }
    const auto free = static_cast<std::int64_t>(fs.f_bavail) * static_cast<std::int64_t>(fs.f_bsize);
    return free < 2 * room.value ? "has too little space" : "";
}

bool is_own_directory(const std::filesystem::path& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

void remove_leftovers_in(const std::string& place) {
    std::error_code error;
    std::vector<std::filesystem::path> found;
    for (std::filesystem::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
        if (is_leftover(it->path().filename()) && is_own_directory(it->path())) {
            found.push_back(it->path());
        }
    }
    for (const auto& path : found) {
        std::filesystem::remove_all(path, error);
    }
}

}  // namespace

std::string demo_name(pid_t pid) { return std::string(demo_prefix) + std::to_string(pid); }

std::optional<pid_t> demo_pid(const std::string& name) {
    if (!name.starts_with(demo_prefix)) {
        return std::nullopt;
    }
    pid_t pid = 0;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + demo_prefix.size(), end, pid);
    const auto rest = static_cast<std::size_t>(end - parsed.ptr);
    const bool whole = rest == 0 || (*parsed.ptr == '.' && rest == pattern.size());
    return parsed.ec == std::errc() && pid > 0 && whole ? std::optional(pid) : std::nullopt;
}

bool is_leftover(const std::string& name) {
    const auto pid = demo_pid(name);
    return pid && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

Result<Scratch> Scratch::make(Bytes room) {
    std::string why;
    for (const auto& place : places()) {
        std::string objected = room.value > 0 ? objection(place, room) : "";
        if (objected.empty()) {
            std::string path = place + "/" + demo_name(getpid()) + std::string(pattern);
            if (::mkdtemp(path.data()) != nullptr) {
                return Scratch(path);
            }
            objected = sys::fail_errno("", errno).value().why;
        }
        why.append(why.empty() ? "" : ", ").append(place).append(" ").append(objected);
    }
    return fail(ErrorKind::failed, "demo", "no directory for its files: " + why,
                "name one on a disk with TMPDIR" +
                    (room.value > 0 ? ", with " + std::to_string(room.value >> 19U) + " MiB free" : std::string{}));
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Scratch::~Scratch() {
    std::error_code error;
    if (!path_.empty()) {
        std::filesystem::remove_all(path_, error);
    }
}

void remove_leftover_directories() {
    for (const auto& place : places()) {
        remove_leftovers_in(place);
    }
}

void remove_leftover_pins(const std::string& bpffs) { remove_leftovers_in(bpffs); }

}  // namespace evictd::demo
