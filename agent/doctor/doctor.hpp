// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Examines this host for `evictd doctor`: what there is, what was chosen, what is lost where something is missing.
// Leaves nothing behind and disturbs no running agent.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "codec/doctor_report.hpp"
#include "evictd/model/config.hpp"

namespace evictd::doctor {

// Works without root as far as it goes, and says what it could not see.
[[nodiscard]] codec::DoctorReport examine(const Config& config);

// Its parts. Each appends what it found.
struct HostFacts {
    bool has_memory_cgroups = false;
    bool can_kill = false;
    bool has_pods_root = false;
    bool has_pod_source = false;
};
[[nodiscard]] codec::Finding find_manifests(const Config& config, HostFacts& facts);
// The API server, as far as that can be seen without asking it; nothing where none is configured.
void examine_cluster(const Config& config, HostFacts& facts, std::vector<codec::Finding>& checks);
// The container runtime; nothing where none is configured or found, and not needed. Waits 2 s at most for each of its
// answers.
void examine_runtime(const Config& config, std::vector<codec::Finding>& checks);
// What evictd.disks needs beside it; nothing where that is off. A filesystem that hangs is not waited for.
void examine_disks(const Config& config, std::vector<codec::Finding>& checks);
// What evictd.gc.orphans needs beside that; nothing where it is off. Part of examine_disks(), which leaves it out where
// a filesystem hangs.
void examine_orphans(const Config& config, std::vector<codec::Finding>& checks);
// UIDs of the pods that have a volume or log directory here, by its name, whatever is in it. Of a directory that cannot
// be listed none: examine_disks() says so.
[[nodiscard]] std::set<std::string> pods_with_directories(const Config& config);
// "PATH: why"; empty: the directory can be listed and written to.
[[nodiscard]] std::string why_unwritable(const std::string& path);
[[nodiscard]] std::string pods_text(std::size_t count);
[[nodiscard]] HostFacts examine_cgroups(const Config& config, std::vector<codec::Finding>& checks);
void examine_kernel(const Config& config, std::vector<codec::Finding>& checks);
void examine_rights(const Config& config, std::vector<codec::Finding>& checks);
// False: the configuration requires BPF and it cannot be had.
[[nodiscard]] bool examine_hooks(const Config& config, codec::DoctorReport& report);

}  // namespace evictd::doctor
