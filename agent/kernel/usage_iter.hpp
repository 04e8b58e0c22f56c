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
    explicit UsageIter(Bpf& bpf) : bpf_(bpf) {}
    Status read(std::vector<port::CgroupUsage>& rows) override;

private:
    Bpf& bpf_;
};

}  // namespace evictd::kernel
