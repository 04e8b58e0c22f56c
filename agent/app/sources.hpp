// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which adapters stand behind the kernel's ports on this host: BPF where the kernel takes it, files where it does not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/port/kernel_event_source.hpp"
#include "kernel/bpf.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "kernel/node_stalls.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/proc_pids.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

struct KernelSources {
    std::unique_ptr<kernel::CgroupDirs> cgroups;
    std::unique_ptr<kernel::ProcFiles> node;
    std::unique_ptr<kernel::ProcPids> pids;
    std::unique_ptr<kernel::Bpf> bpf;  // null: not used
    std::unique_ptr<port::KernelEventSource> events;
    std::unique_ptr<port::UsageSource> usage;
    std::unique_ptr<kernel::NodeStalls> stalls;
    std::string why_not_bpf;  // empty: it is used
};

// What does not come from where it best would, and why: for people.
struct SourceChange {
    std::string what;
    std::string why;
};
[[nodiscard]] std::vector<SourceChange> changed_sources(const KernelSources& sources);

[[nodiscard]] Result<std::unique_ptr<kernel::CgroupDirs>> open_cgroups(const Config& config);

// `clock` must outlive them. With BpfUse::required, no BPF is an error.
[[nodiscard]] Result<KernelSources> open_sources(const Config& config, std::unique_ptr<kernel::CgroupDirs> cgroups,
                                                 const sys::Clock& clock);

}  // namespace evictd::app
