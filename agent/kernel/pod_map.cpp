// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/pod_map.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <bpf/bpf.h>

#include "kernel/loader.hpp"

namespace evictd::kernel {
namespace {

std::size_t digest_of(const evictd_pod& pod) {
    static_assert(std::has_unique_object_representations_v<evictd_pod>);
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&pod), sizeof(pod)});
}

}  // namespace

bool PodMap::shows(CgroupId id, std::size_t digest) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
    return found != ids_.end() && *found == id && digests_[static_cast<std::size_t>(found - ids_.begin())] == digest;
}

Status PodMap::show(const std::vector<std::pair<CgroupId, evictd_pod>>& pods) {
    std::vector<std::pair<CgroupId, std::size_t>> now;
    std::vector<CgroupId> changed;
    std::vector<evictd_pod> entries;
    now.reserve(pods.size());
    for (const auto& [id, pod] : pods) {
        const auto& [shown, digest] = now.emplace_back(id, digest_of(pod));
        if (!shows(shown, digest)) {
            changed.push_back(id);
            entries.push_back(pod);
        }
    }
    auto count = static_cast<std::uint32_t>(changed.size());
    bpf_map_batch_opts all{};
    all.sz = sizeof(all);
    Status written;
    if (count > 0 && bpf_map_update_batch(map_, changed.data(), entries.data(), &count, &all) != 0) {
        written = bpf_error("pods", errno);
    }
    std::sort(now.begin(), now.end());
    const auto before = std::exchange(ids_, {});
    digests_.clear();
    for (const auto& [id, digest] : now) {
        ids_.push_back(id);
        digests_.push_back(written ? digest : 0);
    }
    for (const auto id : before) {
        if (!std::binary_search(ids_.begin(), ids_.end(), id)) {
            (void)bpf_map_delete_elem(map_, &id.value);
        }
    }
    return written;
}

}  // namespace evictd::kernel
