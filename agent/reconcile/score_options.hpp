// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the parts of the score keeper have in common.
#pragma once

#include <functional>
#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/oom_score.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::reconcile {

struct KeptPod {
    PodPtr pod;
    port::PodCgroupPtr cgroup;
    // The same objects.
    bool operator==(const KeptPod&) const = default;
};

struct ScoreOptions {
    OomScoreAdjPolicy policy = OomScoreAdjPolicy::enforce;
    bool steering = true;
    bool dry_run = false;
    std::string ledger_path;  // where originals of raised scores are remembered
    // What a process in the container cgroup of that name may have.
    std::function<ScoreRange(const Pod& pod, const std::string& container_cgroup, Bytes node_memory)> wanted;
    // CPU time that this thread has used; none: it is not measured, and there is no budget.
    std::function<Duration()> cpu_time{};

    [[nodiscard]] bool only_looks() const { return dry_run || policy == OomScoreAdjPolicy::observe; }
};

}  // namespace evictd::reconcile
