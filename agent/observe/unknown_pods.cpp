// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/unknown_pods.hpp"

#include <algorithm>
#include <unordered_map>

namespace evictd::observe {
namespace {

using Wanted = std::unordered_map<CgroupId, const UnknownPod*>;

std::vector<UnknownPod> with_usage(const Wanted& wanted, const std::vector<port::CgroupUsage>& rows,
                                   const PodTable& table) {
    std::vector<UnknownPod> pods;
    if (wanted.empty()) {
        return pods;
    }
    pods.reserve(wanted.size());
    UnknownPod* current = nullptr;
    std::optional<std::int32_t> level;  // of the pod that the rows lie in, known or not
    for (const auto& row : rows) {
        if (!level || row.level <= *level) {
            current = nullptr;
            level = table.uid_of(row.id) ? std::optional(row.level) : std::nullopt;
            if (const auto unknown = wanted.find(row.id); unknown != wanted.end()) {
                current = &pods.emplace_back(*unknown->second);
                current->working_set = row.usage;
                current->populated = row.populated;
            }
        }
        // A cgroup inside a pod's is that pod's, whatever name the pod gave it.
        if (current != nullptr) {
            current->working_set = std::max(Bytes{0}, current->working_set - row.inactive_file);
        }
    }
    return pods;
}

}  // namespace

std::vector<UnknownPod> unknown_pods(const std::vector<port::CgroupUsage>& rows, const PodTable& table,
                                     MonotonicTime now) {
    Wanted young;
    for (const auto& one : table.unknown()) {
        if (now - one.first_seen < unknown_pod_period) {
            young[one.cgroup] = &one;
        }
    }
    return with_usage(young, rows, table);
}

std::vector<LeftCgroup> left_cgroups(const std::vector<port::CgroupUsage>& rows, const PodTable& table,
                                     const std::function<bool(const PodUid&)>& is_wanted) {
    Wanted wanted;
    for (const auto& one : table.unknown()) {
        if (is_wanted(one.pod)) {
            wanted[one.cgroup] = &one;
        }
    }
    std::vector<LeftCgroup> left;
    for (const auto& one : with_usage(wanted, rows, table)) {
        const auto cgroup = one.populated ? nullptr : table.cgroup_of(one.pod);
        if (cgroup) {
            left.push_back({one.pod, cgroup->path()});
        }
    }
    std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.pod < b.pod; });
    left.resize(std::min(left.size(), most_left_cgroups));
    return left;
}

std::vector<UnknownPod> oldest_unknown_pods(const std::vector<port::CgroupUsage>& rows, const PodTable& table,
                                            std::size_t most) {
    Wanted oldest;
    const auto& all = table.unknown();
    for (std::size_t i = 0; i < std::min(all.size(), most); i++) {
        oldest[all[i].cgroup] = &all[i];
    }
    return with_usage(oldest, rows, table);
}

}  // namespace evictd::observe
