// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// oom_score_adj by /proc/PID directories that stay open: once its process has ended, everything below such a directory
// answers ESRCH, whichever process has the pid then.
#pragma once

#include <string>

#include "evictd/port/process_scores.hpp"

namespace evictd::kernel {

class ProcScores final : public port::ProcessScores {
public:
    [[nodiscard]] Result<std::vector<pid_t>> list(const port::PodCgroup& pod) override;
    Status visit(const port::PodCgroup& pod, std::span<const pid_t> pids, const Visit& visit) override;
};

// The component behind that of the pod's cgroup in /proc/PID/cgroup, in the hierarchy of the memory controller if it
// says so. Paths there may be relative to a cgroup namespace, so only the pod's own name counts. Apart for tests.
[[nodiscard]] std::string container_cgroup_in(const std::string& proc_cgroup, const std::string& pod_path);
// Whether a process whose /proc/PID/cgroup reads so is in the pod's cgroup or below it.
[[nodiscard]] bool is_in_pod(const std::string& proc_cgroup, const std::string& pod_path);
// Field 22 of /proc/PID/stat; 0: not to be found.
[[nodiscard]] std::uint64_t start_time_in(const std::string& proc_stat);

}  // namespace evictd::kernel
