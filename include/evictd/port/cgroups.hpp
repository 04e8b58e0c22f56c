// SPDX-License-Identifier: Apache-2.0
// The cgroups below the pods' root: what they use, and the means to end what runs in one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

// One cgroup as the kernel counts it. Its own LRU figures exclude its children's; usage includes them.
struct CgroupUsage {
    CgroupId id;
    std::int32_t level = 0;  // depth in the hierarchy; children follow their parent
    Bytes usage;
    std::optional<Bytes> limit;
    Bytes inactive_file;
    Bytes active_file;
    Bytes anon;
    std::int32_t processes = 0;
};

// Every cgroup below the pods' root in one pass, the root first, parents before children.
class UsageSource {
  public:
    UsageSource() = default;
    UsageSource(const UsageSource&) = delete;
    UsageSource& operator=(const UsageSource&) = delete;
    virtual ~UsageSource() = default;

    // Fills `rows` anew (its capacity is reused). The pods' root gone is `vanished`.
    virtual Status read(std::vector<CgroupUsage>& rows) = 0;
};

// A pod's cgroup, held open: it stays that cgroup whatever is made under its name later.
class PodCgroup {
  public:
    PodCgroup() = default;
    PodCgroup(const PodCgroup&) = delete;
    PodCgroup& operator=(const PodCgroup&) = delete;
    virtual ~PodCgroup() = default;

    [[nodiscard]] virtual CgroupId id() const = 0;
    [[nodiscard]] virtual const std::string& path() const = 0;
    // Whether a process is left in it or below it. `vanished` once the cgroup is removed.
    [[nodiscard]] virtual Result<bool> populated() const = 0;
};

}  // namespace evictd::port
