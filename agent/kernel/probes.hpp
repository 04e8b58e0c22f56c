// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Questions put to the kernel by trying, each undone at once: what this process may do on this host. Which BPF programs
// load is programs.hpp's. Not for the agent, which tries the real thing and goes on without.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/hierarchies.hpp"

namespace evictd::kernel {

// Each returns 0, or the errno of the refusal.
[[nodiscard]] int probe_pidfd();
[[nodiscard]] int probe_process_mrelease();
[[nodiscard]] int probe_realtime(int priority);
[[nodiscard]] int probe_memory_lock();
[[nodiscard]] int probe_lower_oom_score();
[[nodiscard]] int probe_pressure_trigger(std::chrono::microseconds window);

// Whether the memory hierarchy's cgroups have `file`, such as cgroup.kill. Its root has not, so one of its cgroups is
// asked, or one that is made for it; ENOENT: they have not.
[[nodiscard]] int probe_cgroup_file(const Hierarchies& hierarchies, const std::string& file);

// Those of the capabilities that evictd has a use for, which this process lacks: "CAP_BPF", ...
[[nodiscard]] std::vector<std::string_view> missing_capabilities();

[[nodiscard]] bool is_bpf_filesystem(const std::string& path);

}  // namespace evictd::kernel
