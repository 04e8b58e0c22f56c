// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// All cgroups' usage in one pass of the BPF program, and the other two ways to the pods' page cache.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/port/cgroups.hpp"
#include "kernel/bpf.hpp"

namespace evictd::kernel {

class UsageIter final : public port::UsageSource {
public:
    // `bpf` must outlive it.
    explicit UsageIter(Bpf& bpf) : bpf_(bpf) {}
    Status read(std::vector<port::CgroupUsage>& rows, port::Pass pass) override;
    [[nodiscard]] std::optional<port::NodeMemoryReading> node_memory() const override { return node_; }
    [[nodiscard]] std::optional<port::RootCount> timer_count() const override;
    [[nodiscard]] Result<std::optional<port::RootCount>> controller_count() override;
    [[nodiscard]] Bytes uncounted_cache() override;

private:
    Status read_file(const char* name);

    Bpf& bpf_;
    std::optional<port::NodeMemoryReading> node_;
    std::string text_;  // kept for its capacity
};

}  // namespace evictd::kernel
