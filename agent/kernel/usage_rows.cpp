// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/usage_rows.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>

#include "evictd/abi/event.h"
#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

// A node with 110 pods. Mapped pages are the agent's memory, touched or not: no more than are needed are mapped.
constexpr std::size_t first_rows = 1024;

std::size_t size_of(std::size_t rows) { return rows * sizeof(evictd_usage); }

}  // namespace

void UsageRows::Unmap::operator()(std::byte* mapped) const { (void)munmap(mapped, size_of(rows)); }

Result<UsageRows> UsageRows::open(int map) {
    UsageRows rows(map);
    if (auto mapped = rows.reach(first_rows); !mapped) {
        return tl::unexpected(mapped.error());
    }
    return rows;
}

// The kernel grows no mapping of a BPF map in place; the rows stay where they are.
Status UsageRows::reach(std::size_t count) {
    const std::size_t wanted = std::min<std::size_t>(std::bit_ceil(count), EVICTD_MAX_CGROUPS);
    void* mapped = mmap(nullptr, size_of(wanted), PROT_READ, MAP_SHARED, map_, 0);
    if (mapped == MAP_FAILED) {
        return sys::fail_errno("BPF map usage_rows", errno);
    }
    rows_ = {static_cast<std::byte*>(mapped), Unmap{wanted}};
    return {};
}

Result<std::span<const std::byte>> UsageRows::first(std::size_t count) {
    if (count > EVICTD_MAX_CGROUPS) {
        return fail(
            ErrorKind::failed, "usage",
            fmt::format("there are {} cgroups below the pods' root, at most {} can be read", count, EVICTD_MAX_CGROUPS),
            "set evictd.bpf: off to have them read from files");
    }
    if (count > rows_.get_deleter().rows) {
        if (auto mapped = reach(count); !mapped) {
            return tl::unexpected(mapped.error());
        }
    }
    return std::span<const std::byte>(rows_.get(), size_of(count));
}

}  // namespace evictd::kernel
