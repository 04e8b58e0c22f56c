// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/stall_map.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>

#include <bpf/bpf.h>
#include <fmt/format.h>

#include "sys/fd.hpp"

namespace evictd::kernel {
namespace {

constexpr std::uint64_t node_key = 0;  // no cgroup has it

}  // namespace

StallMap::StallMap(int stalls, int lines) : stalls_(stalls), lines_(lines) {
    const evictd_stall nothing{};
    (void)bpf_map_update_elem(stalls_, &node_key, &nothing, BPF_ANY);
}

Status StallMap::keep(const std::vector<CgroupId>& pods) {
    std::vector<CgroupId> fresh;
    std::vector<CgroupId> gone;
    std::set_difference(pods.begin(), pods.end(), kept_.begin(), kept_.end(), std::back_inserter(fresh));
    std::set_difference(kept_.begin(), kept_.end(), pods.begin(), pods.end(), std::back_inserter(gone));
    Status result;
    for (const auto id : gone) {
        (void)bpf_map_delete_elem(stalls_, &id.value);
    }
    const evictd_stall nothing{};
    for (const auto id : fresh) {
        if (bpf_map_update_elem(stalls_, &id.value, &nothing, BPF_NOEXIST) != 0 && errno != EEXIST) {
            result = sys::fail_errno("BPF map stall", errno);
        }
    }
    kept_ = pods;
    return result;
}

Status StallMap::watch(const std::vector<evictd_stall_line>& lines) const {
    if (lines.size() > EVICTD_MAX_STALL_LINES) {
        return fail(ErrorKind::invalid, "evictd.psi",
                    fmt::format("{} lines to watch, at most {} fit", lines.size(), EVICTD_MAX_STALL_LINES),
                    "configure fewer thresholds");
    }
    evictd_stall_lines all{};
    std::copy(lines.begin(), lines.end(), std::begin(all.line));
    const std::uint32_t zero = 0;
    const bool written = bpf_map_update_elem(lines_, &zero, &all, BPF_ANY) == 0;
    return written ? Status{} : sys::fail_errno("BPF map stall_lines", errno);
}

Result<evictd_stall> StallMap::entry(CgroupId id) const {
    evictd_stall found{};
    if (bpf_map_lookup_elem(stalls_, &id.value, &found) != 0) {
        return sys::fail_errno("BPF map stall", errno);
    }
    return found;
}

Result<StallTimes> StallMap::node() const {
    const auto node = entry({node_key});
    if (!node) {
        return tl::unexpected(node.error());
    }
    StallTimes times{};
    for (std::size_t i = 0; i < times.size(); i++) {
        times.at(i) = std::min(Duration(node->lost_ns[i]), length(static_cast<StallWindow>(i)));
    }
    return times;
}

}  // namespace evictd::kernel
