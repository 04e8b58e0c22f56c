// SPDX-License-Identifier: Apache-2.0
#include "kernel/usage_iter.hpp"

#include <cerrno>

#include <unistd.h>

#include "evictd/abi/event.h"
#include "kernel/decode.hpp"

namespace evictd::kernel {
namespace {

// The kernel hands out at most its seq_file buffer (8 pages) a read: 585 rows of 56 bytes. Rows never straddle reads.
constexpr std::size_t buffer_size = 64 * 1024;

}  // namespace

UsageIter::UsageIter(const Bpf& bpf) : bpf_(bpf), buffer_(buffer_size) {}

Status UsageIter::read(std::vector<port::CgroupUsage>& rows) {
    rows.clear();
    auto iterator = bpf_.open_usage();
    if (!iterator) {
        return tl::unexpected(iterator.error());
    }
    for (;;) {
        const ssize_t got = ::read(iterator->get(), buffer_.data(), buffer_.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (got < 0) {
            return sys::fail_errno("usage iterator", errno);
        }
        if (got == 0) {
            break;
        }
        decode_usage({buffer_.data(), static_cast<std::size_t>(got)}, rows);
    }
    if (rows.empty()) {
        return fail(ErrorKind::vanished, "pods' cgroup", "was removed");
    }
    return {};
}

}  // namespace evictd::kernel
