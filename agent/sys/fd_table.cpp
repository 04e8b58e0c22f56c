// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/fd_table.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>

#include "sys/fd.hpp"
#include "sys/log.hpp"

namespace evictd::sys {
namespace {

void say_not_grown(int error_number) {
    log::warn("could not enlarge the table of file descriptors: " + std::generic_category().message(error_number) +
              "; under a fork bomb a kill may wait for the kernel to do it");
}

}  // namespace

void raise_fd_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void grow_fd_table(std::size_t count) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return say_not_grown(errno);
    const auto places = std::min<rlim_t>(count, limit.rlim_cur);
    if (places == 0) return;
    const Fd any(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!any) return say_not_grown(errno);
    const Fd last(::fcntl(any.get(), F_DUPFD_CLOEXEC, static_cast<int>(places - 1)));
    if (!last) say_not_grown(errno);
}

}  // namespace evictd::sys
