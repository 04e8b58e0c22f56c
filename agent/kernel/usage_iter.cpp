// SPDX-License-Identifier: Apache-2.0
#include "kernel/usage_iter.hpp"

#include "kernel/decode.hpp"

namespace evictd::kernel {

Status UsageIter::read(std::vector<port::CgroupUsage>& rows) {
    rows.clear();
    const auto read = bpf_.read_usage();
    if (!read) {
        return tl::unexpected(read.error());
    }
    decode_usage(*read, rows);
    return rows.empty() ? fail(ErrorKind::vanished, "pods' cgroup", "was removed") : Status{};
}

}  // namespace evictd::kernel
