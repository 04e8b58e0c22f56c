// SPDX-License-Identifier: Apache-2.0
#include "kernel/usage_rows.hpp"

#include <cerrno>
#include <string>

#include <sys/mman.h>

#include "evictd/abi/event.h"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

constexpr std::size_t whole_size = EVICTD_MAX_CGROUPS * sizeof(evictd_usage);

}  // namespace

void UsageRows::Unmap::operator()(std::byte* rows) const { (void)munmap(rows, whole_size); }

Result<UsageRows> UsageRows::open(int map) {
    void* rows = mmap(nullptr, whole_size, PROT_READ, MAP_SHARED, map, 0);
    return rows == MAP_FAILED ? Result<UsageRows>(sys::fail_errno("BPF map usage_rows", errno))
                              : UsageRows(static_cast<std::byte*>(rows));
}

Result<std::span<const std::byte>> UsageRows::first(std::size_t count) const {
    if (count > EVICTD_MAX_CGROUPS) {
        return fail(ErrorKind::failed, "usage",
                    "there are " + std::to_string(count) + " cgroups below the pods' root, at most " +
                        std::to_string(EVICTD_MAX_CGROUPS) + " can be read",
                    "set evictd.bpf: off to have them read from files");
    }
    return std::span<const std::byte>(rows_.get(), count * sizeof(evictd_usage));
}

}  // namespace evictd::kernel
