// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What can be set of a pod's cgroup without killing a process: its page cache, its limit, its freezer.
#pragma once

#include <limits>
#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

// A cgroup that is found again by whoever was not there when it was opened. Another one made under the same path later
// is not it.
struct CgroupPlace {
    std::string path;  // below the hierarchy's mount point
    CgroupId id;       // in the memory hierarchy
    friend bool operator==(const CgroupPlace&, const CgroupPlace&) = default;
};

inline constexpr Bytes no_limit{std::numeric_limits<std::int64_t>::max()};

// Each fails with `vanished` once the cgroup is gone, and with another error where this kernel has nothing like it.
// Safe to use from several threads.
class PodControls {
public:
    PodControls() = default;
    PodControls(const PodControls&) = delete;
    PodControls& operator=(const PodControls&) = delete;
    virtual ~PodControls() = default;

    // memory.current
    [[nodiscard]] virtual Result<Bytes> usage(const CgroupPlace& pod) const = 0;
    // memory.reclaim, file pages only. That less was there than was asked for is no error. Blocks while it reclaims.
    [[nodiscard]] virtual Status reclaim(const CgroupPlace& pod, Bytes bytes) const = 0;

    // memory.high; `no_limit`: "max".
    [[nodiscard]] virtual Result<Bytes> limit(const CgroupPlace& pod) const = 0;
    [[nodiscard]] virtual Status set_limit(const CgroupPlace& pod, Bytes limit) const = 0;

    // cgroup.freeze, or v1's freezer.state; of the pod's own cgroup: what somebody froze below it stays so.
    [[nodiscard]] virtual Result<bool> is_frozen(const CgroupPlace& pod) const = 0;
    [[nodiscard]] virtual Status set_frozen(const CgroupPlace& pod, bool frozen) const = 0;
};

}  // namespace evictd::port
