// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The oom_score_adj of pods' processes: read and written through handles that stay the process they were opened for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::port {

// A process that was listed in the pod's cgroup, held so that its pid cannot come to mean another one. It is only
// written to if it is in the pod's cgroup then. Good only during the call that hands it over.
class ScoredProcess {
public:
    ScoredProcess() = default;
    ScoredProcess(const ScoredProcess&) = delete;
    ScoredProcess& operator=(const ScoredProcess&) = delete;
    virtual ~ScoredProcess() = default;

    [[nodiscard]] virtual pid_t pid() const = 0;
    // Clock ticks from the machine's start to its own: with the pid, an identity until the next boot. 0: it is gone.
    [[nodiscard]] virtual std::uint64_t started() const = 0;
    // The name of the cgroup directly below the pod's that it is in; empty: it is in the pod's own.
    [[nodiscard]] virtual std::string container() const = 0;
    // `vanished` once it ended.
    [[nodiscard]] virtual Result<int> score() const = 0;
    // `not_permitted`: lower than this process may go without CAP_SYS_RESOURCE. `vanished`: it ended, or is no process
    // of the pod.
    [[nodiscard]] virtual Status set_score(int score) = 0;
};

class ProcessScores {
public:
    ProcessScores() = default;
    ProcessScores(const ProcessScores&) = delete;
    ProcessScores& operator=(const ProcessScores&) = delete;
    virtual ~ProcessScores() = default;

    using Visit = std::function<void(ScoredProcess&)>;

    // The processes of the pod. `vanished`: the cgroup is gone.
    [[nodiscard]] virtual Result<std::vector<pid_t>> list(const PodCgroup& pod) = 0;
    // Hands over those of `pids`, as listed, that are still there, but never this process. One at a time is held, so
    // that neither their number nor the time between two calls matters. An error: the first that could not be opened
    // though it is there, after all the rest was handed over.
    virtual Status visit(const PodCgroup& pod, std::span<const pid_t> pids, const Visit& visit) = 0;

    // All of them at once.
    Status each(const PodCgroup& pod, const Visit& visit_one) {
        const auto listed = list(pod);
        if (!listed) {
            return tl::unexpected(listed.error());
        }
        return visit(pod, *listed, visit_one);
    }
};

}  // namespace evictd::port
