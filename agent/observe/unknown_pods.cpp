// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/unknown_pods.hpp"

#include <algorithm>
#include <unordered_map>

namespace evictd::observe {

std::vector<UnknownPod> unknown_pods(const std::vector<port::CgroupUsage>& rows, const PodTable& table,
                                     MonotonicTime now) {
    std::unordered_map<CgroupId, const UnknownPod*> young;
    for (const auto& one : table.unknown()) {
        if (now - one.first_seen < unknown_pod_period) {
            young[one.cgroup] = &one;
        }
    }
    std::vector<UnknownPod> pods;
    if (young.empty()) {
        return pods;
    }
    pods.reserve(young.size());
    UnknownPod* current = nullptr;
    std::optional<std::int32_t> level;  // of the pod that the rows lie in, known or not
    for (const auto& row : rows) {
        if (!level || row.level <= *level) {
            current = nullptr;
            level = table.uid_of(row.id) ? std::optional(row.level) : std::nullopt;
            if (const auto unknown = young.find(row.id); unknown != young.end()) {
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

}  // namespace evictd::observe
