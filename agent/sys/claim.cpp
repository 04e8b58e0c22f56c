// SPDX-License-Identifier: Apache-2.0
#include "sys/claim.hpp"

#include <cerrno>
#include <sstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "sys/file.hpp"

namespace evictd::sys {
namespace {

constexpr std::size_t proc_limit = 1U << 20U;

// /proc/locks: "1: FLOCK  ADVISORY  WRITE 1234 00:1b:57 0 EOF".
std::string holder_of(ino_t inode) {
    const auto locks = read_file("/proc/locks", proc_limit);
    std::istringstream lines(locks ? *locks : std::string{});
    std::string line;
    while (std::getline(lines, line)) {
        std::istringstream words(line);
        std::string number, kind, advisory, access, pid, file;
        words >> number >> kind >> advisory >> access >> pid >> file;
        if (kind == "FLOCK" && file.ends_with(":" + std::to_string(inode)) && pid != "0") {
            const auto comm = read_file("/proc/" + pid + "/comm", proc_limit);
            return "process " + pid + (comm ? " (" + comm->substr(0, comm->find('\n')) + ")" : "");
        }
    }
    return "another process";
}

}  // namespace

Result<Fd> claim_directory(const std::string& path, const std::string& what, const std::string& remedy) {
    auto directory = open(path, O_RDONLY | O_DIRECTORY);
    if (!directory) {
        return directory;
    }
    if (flock(directory->get(), LOCK_EX | LOCK_NB) == 0) {
        return directory;
    }
    if (errno != EWOULDBLOCK) {
        return fail_errno(path, errno);
    }
    struct stat status {};
    (void)fstat(directory->get(), &status);
    return fail(ErrorKind::failed, path, what + ": " + holder_of(status.st_ino), remedy);
}

}  // namespace evictd::sys
