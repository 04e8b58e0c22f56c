// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The empty cgroup that is left of a pod that no source knows any more. It decides nothing.
#pragma once

#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"

namespace evictd::port {

// For a thread that may block. `path`: below the mount point, the same in each hierarchy, as LeftCgroup has it.
class CgroupRemains {
public:
    CgroupRemains() = default;
    CgroupRemains(const CgroupRemains&) = delete;
    CgroupRemains& operator=(const CgroupRemains&) = delete;
    virtual ~CgroupRemains() = default;

    // Why it is in use: "a process is in it". Empty: no process is in it or below it, in no hierarchy. Errors:
    // `vanished` (it is in no hierarchy), `invalid` (it is not the cgroup of that pod below the pods' root), `failed`.
    [[nodiscard]] virtual Result<std::string> life(const PodUid& pod, const std::string& path) = 0;
    // life(), and then removes it with those below it, the deepest first, in each hierarchy. No process is ended or
    // moved. Errors as above; `invalid` too where cgroups may not be removed (a read-only mount); `failed`: it has come
    // to life, and another call may remove it; `exhausted`: it is too large to go at once, and goes on with the next
    // call.
    [[nodiscard]] virtual Status remove(const PodUid& pod, const std::string& path) = 0;
};

}  // namespace evictd::port
