// SPDX-License-Identifier: Apache-2.0
// All cgroups' usage in one pass of the BPF iterator.
#pragma once

#include <vector>

#include "evictd/port/cgroups.hpp"
#include "kernel/bpf.hpp"

namespace evictd::kernel {

class UsageIter final : public port::UsageSource {
public:
    // `bpf` must outlive it.
    explicit UsageIter(const Bpf& bpf);
    Status read(std::vector<port::CgroupUsage>& rows) override;

private:
    const Bpf& bpf_;
    std::vector<std::byte> buffer_;
};

}  // namespace evictd::kernel
