// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The file says which process holds it. While one looks, takes or takes over, it holds a lock on the directory: that
// takes microseconds, and without it two agents could each take over from a dead one.
#include "sys/lock_file.hpp"

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/own_directory.hpp"

namespace evictd::sys {
namespace {

// Short beside what a restart costs, long beside what a look costs.
constexpr Duration pause_between_looks = std::chrono::milliseconds(5);
// The directory's own lock: nobody holds it longer than that unless it is being killed.
constexpr Duration patience_with_directory = std::chrono::seconds(1);
// A killed thread that has taken SIGKILL and is not marked as exiting yet looks like one that runs.
constexpr Duration time_to_be_sure = std::chrono::milliseconds(100);
constexpr std::size_t most_text = 256;

std::string text_of(const ProcessIdentity& process) {
    return fmt::format("{} {} {}\n", process.pid, process.started, process.pid_namespace);
}

ProcessIdentity holder_in(int file) {
    std::istringstream words(read_all(file, most_text).value_or(""));
    ProcessIdentity holder;
    words >> holder.pid >> holder.started >> holder.pid_namespace;
    return words ? holder : ProcessIdentity{};
}

std::string say(const ProcessIdentity& holder) {
    if (holder.pid <= 0) return "an unknown process";
    const auto comm = read_file("/proc/" + std::to_string(holder.pid) + "/comm", most_text);
    return "process " + std::to_string(holder.pid) + (comm ? " (" + comm->substr(0, comm->find('\n')) + ")" : "");
}

bool is_in_place(int directory, const std::string& name, int file) {
    struct stat there {};
    struct stat ours {};
    return ::fstatat(directory, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &ours) == 0 &&
           there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

Result<Fd> open_lock(int directory, const LockRequest& request, const std::string& path) {
    Fd file(::openat(directory, request.name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return fail_errno(path, errno);
    const bool is_ours = S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
    if (!is_ours) return fail(ErrorKind::invalid, path, "not a lock file of evictd", "rm " + path);
    return file;
}

Status write_holder(int file, const std::string& path) {
    const std::string text = text_of(this_process());
    const bool written =
        ::ftruncate(file, 0) == 0 && ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    return written ? Status{} : fail_errno(path, errno != 0 ? errno : EIO);
}

bool lock_soon(int directory) {
    const SystemClock clock;
    const auto end = clock.monotonic() + patience_with_directory;
    while (::flock(directory, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR && (errno != EWOULDBLOCK || clock.monotonic() >= end)) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

tl::unexpected<Error> busy(const LockRequest& request, const std::string& holder) {
    return fail(ErrorKind::unreachable, request.object, request.holder + ": " + holder, request.remedy);
}

}  // namespace

// None: the holder is ending, and there is time to wait for it.
Result<std::optional<LockFile>> LockFile::try_once(const LockRequest& request, const std::string& directory,
                                                   bool is_patient) {
    auto opened = make_own_directories(directory, Access::only_ours);
    if (!opened) return tl::unexpected(opened.error());
    const int at = opened->get();
    if (!lock_soon(at)) return busy(request, "its lock directory " + directory + " is in use");
    const std::string path = directory + "/" + request.name;
    while (true) {
        auto file = open_lock(at, request, path);
        if (!file) return tl::unexpected(file.error());
        if (::flock(file->get(), LOCK_EX | LOCK_NB) == 0) {
            if (!is_in_place(at, request.name, file->get())) continue;  // its last holder has just removed it
            if (auto written = write_holder(file->get(), path); !written) return tl::unexpected(written.error());
            (void)::flock(at, LOCK_UN);
            return std::optional(LockFile(std::move(*opened), std::move(*file), request.name));
        }
        if (errno != EWOULDBLOCK) return fail_errno(path, errno);
        const auto holder = holder_in(file->get());
        const auto state = state_of(holder);
        if (state == ProcessState::running || (!is_patient && request.is_shared_with_children))
            return busy(request, say(holder));
        if (is_patient && (state == ProcessState::ending || request.is_shared_with_children)) return std::nullopt;
        // Dead: it will never act again, whatever keeps its descriptors open.
        if (::unlinkat(at, request.name.c_str(), 0) != 0 && errno != ENOENT) return fail_errno(path, errno);
    }
}

Result<LockFile> LockFile::take(const LockRequest& request, const std::string& directory) {
    const SystemClock clock;
    const auto begin = clock.monotonic();
    const auto end = begin + request.patience;
    const auto sure_at = begin + std::min(request.patience, time_to_be_sure);
    while (true) {
        auto taken = try_once(request, directory, clock.monotonic() < end);
        if (!taken && (taken.error().kind != ErrorKind::unreachable || clock.monotonic() >= sure_at)) {
            return tl::unexpected(taken.error());
        }
        if (taken && *taken) return std::move(**taken);
        std::this_thread::sleep_for(pause_between_looks);
    }
}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
    if (this != &other) {
        release();
        directory_ = std::move(other.directory_);
        file_ = std::move(other.file_);
        name_ = std::move(other.name_);
    }
    return *this;
}

// The next one cannot lock the file before it is closed here, and finds then that its name is gone.
void LockFile::release() {
    if (!file_) return;
    if (is_in_place(directory_.get(), name_, file_.get())) (void)::unlinkat(directory_.get(), name_.c_str(), 0);
    file_.reset();
    directory_.reset();
}

}  // namespace evictd::sys
