// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Identities that cannot be reborn. A pid, a path and a name can: none of them is one.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace evictd {

struct PodUid {
    std::string value;
    friend auto operator<=>(const PodUid&, const PodUid&) = default;
};

// The kernfs node id: what bpf_get_current_cgroup_id() returns and st_ino shows on 64-bit kernels. Unique within one
// hierarchy for the life of the machine.
struct CgroupId {
    std::uint64_t value = 0;
    friend auto operator<=>(CgroupId, CgroupId) = default;
};

}  // namespace evictd

template <>
struct std::hash<evictd::PodUid> {
    std::size_t operator()(const evictd::PodUid& uid) const noexcept { return std::hash<std::string>{}(uid.value); }
};
template <>
struct std::hash<evictd::CgroupId> {
    std::size_t operator()(evictd::CgroupId id) const noexcept { return std::hash<std::uint64_t>{}(id.value); }
};
