// SPDX-License-Identifier: Apache-2.0
// The oom_score_adj of pods' processes: read and written through handles that stay the process they were opened for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "evictd/port/cgroups.hpp"

namespace evictd::port {

// A process that was in the pod's cgroup while it was held: what happens to its pid later is not its affair. Good only
// during the call that hands it over.
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
    // `not_permitted`: lower than this process may go without CAP_SYS_RESOURCE.
    [[nodiscard]] virtual Status set_score(int score) = 0;
};

class ProcessScores {
public:
    ProcessScores() = default;
    ProcessScores(const ProcessScores&) = delete;
    ProcessScores& operator=(const ProcessScores&) = delete;
    virtual ~ProcessScores() = default;

    // Hands over every process of the pod once, but never this one. `vanished`: the cgroup is gone.
    virtual Status each(const PodCgroup& pod, const std::function<void(ScoredProcess&)>& visit) = 0;
};

}  // namespace evictd::port
