// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the node itself has of a pod that nobody knows any more: processes, mounts and the directory of its volumes. It
// decides nothing.
#pragma once

#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"

namespace evictd::port {

// For a thread that may block.
class PodRemains {
public:
    PodRemains() = default;
    PodRemains(const PodRemains&) = delete;
    PodRemains& operator=(const PodRemains&) = delete;
    virtual ~PodRemains() = default;

    // Why the pod is alive: "process 12 is in its cgroup". Empty: no process is. Error: that cannot be seen.
    [[nodiscard]] virtual Result<std::string> life(const PodUid& pod) = 0;
    // The directory is there, and nothing of it is mounted anywhere. Errors: `vanished` (it is not there), `invalid`
    // (it is no such directory, something of it is mounted, or that cannot be seen), `failed`.
    [[nodiscard]] virtual Status check_volumes(const PodUid& pod) = 0;
    // check_volumes(), and then removes what the kubelet itself keeps there, and of what volume plugins keep the empty
    // directories only. Errors as above; `invalid` too if something is left, which another call would not remove
    // either. `exhausted`: it is too large to go at once, and goes on with the next call.
    [[nodiscard]] virtual Status remove_volumes(const PodUid& pod) = 0;
};

}  // namespace evictd::port
