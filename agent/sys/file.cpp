// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whole files by path. Every error names the path, the fault and what a person can do.
#include "sys/file.hpp"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::sys {
namespace {

std::string remedy_for(int error_number) {
    switch (error_number) {
        case ENOENT:
            return "does the path exist?";
        case EACCES:
        case EPERM:
            return "run as root, or give this user access";
        case EROFS:
            return "the file system is read-only: choose another path";
        case ENOSPC:
        case EDQUOT:
            return "free some disk space";
        default:
            return {};
    }
}

tl::unexpected<Error> fail_at(const std::string& path, int error_number) {
    return fail_errno(path, error_number, remedy_for(error_number));
}

std::string directory_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Status write_and_sync(const Fd& fd, std::string_view text, mode_t mode) {
    if (auto written = write_text(fd.get(), text); !written) return written;
    // fchmod, because the umask took part in the open.
    if (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0) return fail_errno("fsync", errno);
    return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return fail_at(path, errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail_at(path, errno);
    if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, path, "not a regular file", "name a plain file");
    auto text = read_all(fd.get(), limit);
    if (!text) {
        Error error = text.error();
        error.what = path;
        if (error.kind == ErrorKind::invalid) error.remedy = "is it the right file?";
        return tl::unexpected(error);
    }
    return text;
}

Status write_atomically(const std::string& path, std::string_view text, mode_t mode) {
    std::string temporary = path + ".XXXXXX";
    const Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!fd) return fail_at(path, errno);
    if (auto written = write_and_sync(fd, text, mode); !written) {
        ::unlink(temporary.c_str());
        Error error = written.error();
        error.what = path;
        return tl::unexpected(error);
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const int error_number = errno;
        ::unlink(temporary.c_str());
        return fail_at(path, error_number);
    }
    // The rename itself is only safe from a crash once the directory is on disk; a file system without that is no
    // fault.
    if (const auto directory = open(directory_of(path), O_RDONLY | O_DIRECTORY)) ::fsync(directory->get());
    return {};
}

Status make_directories(const std::string& path, mode_t mode) {
    for (std::size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        const std::string part = path.substr(0, end);
        if (part.empty() || part.back() == '/') continue;
        if (::mkdir(part.c_str(), mode) == 0 || errno == EEXIST) continue;
        const int error_number = errno;
        struct stat status {};
        // Read-only and foreign parents answer EROFS or EACCES even where the directory is there.
        if (::stat(part.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
        return fail_at(part, error_number);
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail_at(path, errno);
    if (!S_ISDIR(status.st_mode))
        return fail(ErrorKind::failed, path, "exists and is not a directory", "remove it, or choose another path");
    return {};
}

}  // namespace evictd::sys
