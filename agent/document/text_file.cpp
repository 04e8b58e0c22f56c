// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "document/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::document {
namespace {

tl::unexpected<Fault> unreadable(const std::string& file, int error) {
    std::string remedy = "give a readable file";
    if (error == ENOENT) remedy = "check the path";
    if (error == ESPIPE) remedy = "name a plain file, or /dev/stdin";
    if (error == EISDIR) remedy = "name the file in it";
    const bool denied = error == EACCES || error == EPERM;
    if (denied) remedy = "run as root, or let this user read it";
    std::string what = error == ESPIPE ? "not a regular file" : std::string("cannot be read: ") + std::strerror(error);
    return tl::unexpected(Fault{
        file, 0, 0, {}, std::move(what), std::move(remedy), denied ? ErrorKind::not_permitted : ErrorKind::failed});
}

// Anything else than a plain file may never end, and a FIFO without a writer would not even open. 0: it is one.
int why_not_plain(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return errno;
    return S_ISREG(status.st_mode) ? 0 : S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
}

}  // namespace

// As a shell's `check /dev/stdin` or `check <(...)`.
bool is_inherited(const std::string& path) {
    return path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

tl::expected<std::string, Fault> read_text_file(const std::string& path, const Limits& limits) {
    constexpr std::size_t chunk = std::size_t{256} << 10U;
    const bool inherited = is_inherited(path);
    const sys::Fd file(path == "-"
                           ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                           : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (inherited ? 0 : O_NONBLOCK)));
    if (!file) return unreadable(path, errno);
    if (const int error = inherited ? 0 : why_not_plain(file.get()); error != 0) return unreadable(path, error);
    std::string text;
    while (text.size() <= limits.bytes) {
        const std::size_t before = text.size();
        text.resize(before + std::min(chunk, limits.bytes + 1 - before));
        const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
        const int error = errno;
        text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0) break;
        if (got < 0 && error != EINTR) return unreadable(path, error);
    }
    return text;
}

}  // namespace evictd::document
