// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/fd_table.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/resource.h>

#include "sys/fd.hpp"

namespace evictd::sys {

void raise_fd_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void grow_fd_table(std::size_t count) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const auto places = std::min<rlim_t>(count, limit.rlim_cur);
    const Fd any(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!any || places == 0) return;
    const Fd last(::fcntl(any.get(), F_DUPFD_CLOEXEC, static_cast<int>(places - 1)));
}

}  // namespace evictd::sys
