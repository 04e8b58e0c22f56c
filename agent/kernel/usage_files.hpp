// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Usage from the control files, where BPF is refused: the pods' root and each pod, by open, read and close. It is some
// fifty times slower than the iterator, and memory.stat makes the kernel flush its counters for it. Processes are
// counted once a second, or more rarely where that would take more than a fiftieth of a CPU.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "evictd/port/cgroups.hpp"
#include "kernel/hierarchies.hpp"
#include "sys/clock.hpp"
#include "sys/spare_descriptors.hpp"

namespace evictd::kernel {

class UsageFiles final : public port::UsageSource {
public:
    // `cgroups` and `clock` must outlive it; the pods' root of `cgroups` is the one read.
    UsageFiles(Hierarchies hierarchies, port::Cgroups& cgroups, const sys::Clock& clock);
    Status read(std::vector<port::CgroupUsage>& rows, port::Pass pass) override;

private:
    Status read_all(std::vector<port::CgroupUsage>& rows);
    Result<Bytes> read_usage(const std::string& path);
    Result<port::CgroupUsage> read_one(const std::string& path);
    Status read_pods(const std::vector<port::FoundPod>& pods, std::vector<port::CgroupUsage>& rows);
    void count_processes(const std::vector<port::FoundPod>& pods);
    void rest(MonotonicTime& since) const;

    Hierarchies hierarchies_;
    port::Cgroups& cgroups_;
    const sys::Clock& clock_;
    std::unordered_map<CgroupId, std::int32_t> processes_;
    MonotonicTime count_again_at_;
    std::string text_;
    sys::SpareDescriptors spare_;  // given up for a pass that gets none of its own
};

// What a cgroup's memory.stat says of it and of everything below it; `at` is left to the caller.
// Of the whole subtree: page cache, tmpfs and swap cache.
[[nodiscard]] Bytes file_pages(const std::string& memory_stat);
[[nodiscard]] port::RootCount whole_tree_count(const std::string& memory_stat, std::optional<Bytes> kernel_memory_v1);

// The value of `key` in a flat-keyed control file such as memory.stat; 0 if it is not there.
[[nodiscard]] std::int64_t flat_value(const std::string& text, const std::string& key);

}  // namespace evictd::kernel
