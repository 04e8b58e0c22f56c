// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The node's memory as /proc tells it, through files that stay open. Cgroups are not its business.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "evictd/model/result.hpp"
#include "evictd/port/node_memory.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

// MemTotal, MemFree + Inactive(file), MemAvailable, and the free pages in per-CPU lists that newer kernels keep there
// for seconds. MemAvailable is si_mem_available() of mm/show_mem.c: free pages without the zones' reserves, file cache
// and reclaimable slab but for what the kernel keeps of them. It sees the shared memory, hugepages, page tables, stacks
// and slab that the kubelet's formula on cgroup v2 is blind to; arithmetic of our own could only be a worse copy of it.
class ProcFiles final : public port::NodeMemory {
public:
    static Result<std::unique_ptr<ProcFiles>> open();
    Result<port::NodeMemoryReading> read(bool with_cpu_lists) override;

private:
    ProcFiles() = default;
    sys::Fd meminfo_;
    sys::Fd zoneinfo_;
    std::string text_;
};

// Parsers, apart for tests and fuzzers. Values in bytes; a field that is not there is an Error.
[[nodiscard]] Result<port::NodeMemoryReading> parse_meminfo(const std::string& text);
// Page cache, tmpfs and swap cache, from the same file.
[[nodiscard]] Bytes parse_page_cache(const std::string& text);
// Pages in all "count:" lines of /proc/zoneinfo's pagesets.
[[nodiscard]] std::int64_t parse_cpu_list_pages(const std::string& text);

// How many memory nodes there can be (nr_node_ids); 1 where the kernel does not say.
[[nodiscard]] std::uint32_t possible_numa_nodes();

}  // namespace evictd::kernel
