// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The report as a whole, and the kernel: versions are shown, never judged by.
#include "doctor/doctor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel/probes.hpp"
#include "publish/status_client.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;
using namespace std::chrono_literals;

utsname name_of_host() {
    utsname names{};
    (void)uname(&names);
    return names;
}

Finding pressure() {
    Finding finding{.check = "PSI", .chosen = "/proc/pressure/memory", .detail = {}, .remedy = {}};
    const int wide = kernel::probe_pressure_trigger(2s);
    if (wide == ENOENT || wide == EOPNOTSUPP) {
        finding.state = FindingState::missing;
        finding.chosen.clear();
        finding.detail = "stalls are not reported; they are a second source of kernel events beside the thresholds";
        finding.remedy = "boot with psi=1";
    } else if (wide != 0) {
        finding.state = FindingState::unknown;
        finding.detail = std::string("PSI trigger: ") + std::strerror(wide);
    } else if (kernel::probe_pressure_trigger(500ms) != 0) {
        finding.state = FindingState::fallback;
        finding.detail = "windows must be multiples of 2 s: stalls are reported later";
        finding.remedy = "give evictd CAP_SYS_RESOURCE";
    }
    return finding;
}

Finding type_information() {
    constexpr const char* path = "/sys/kernel/btf/vmlinux";
    struct stat status {};
    if (stat(path, &status) == 0) {
        return {.check = "BTF", .chosen = path, .detail = {}, .remedy = {}};
    }
    return {.check = "BTF",
            .state = FindingState::missing,
            .chosen = {},
            .detail = "BPF programs cannot be fitted to this kernel: files and a timed look instead",
            .remedy = "use a kernel with CONFIG_DEBUG_INFO_BTF"};
}

Finding bpf_filesystem(const Config& config) {
    Finding finding{.check = "bpffs", .chosen = "/sys/fs/bpf", .detail = {}, .remedy = {}};
    if (access("/sys/fs/bpf", X_OK) != 0 && errno == EACCES) {
        finding.detail = "only root can see what is in it";
    } else if (!kernel::is_bpf_filesystem("/sys/fs/bpf")) {
        finding.state = FindingState::fallback;
        finding.detail = "not mounted yet; evictd run mounts it, to pin maps for bpftool at " + config.agent.bpffs_path;
    }
    return finding;
}

Finding running_agent(const Config& config) {
    Finding finding{.check = "agent", .chosen = {}, .detail = {}, .remedy = {}};
    auto client = publish::StatusClient::connect(config.agent.socket_path);
    auto answer = client ? client->ask({.verb = codec::RequestVerb::status}) : tl::unexpected<Error>(client.error());
    if (answer) {
        finding.chosen = codec::agent_in_short(*answer);
        return finding;
    }
    finding.state = answer.error().kind == ErrorKind::not_permitted ? FindingState::unknown : FindingState::missing;
    finding.detail = answer.error().what + ": " + answer.error().why;
    finding.remedy = answer.error().remedy;
    return finding;
}

bool all_well(const codec::DoctorReport& report) {
    const auto is_ok = [](const Finding& finding) { return finding.state == FindingState::ok; };
    return std::all_of(report.checks.begin(), report.checks.end(), is_ok) &&
           std::all_of(report.hooks.begin(), report.hooks.end(), is_ok);
}

// What is worst, first.
const char* verdict(const codec::DoctorReport& report, const HostFacts& facts, bool bpf_suffices) {
    if (report.able) {
        return all_well(report) ? "evictd can do its job here: all checks passed."
                                : "evictd can do its job here, with the limits listed above.";
    }
    if (!facts.has_memory_cgroups) {
        return "evictd cannot work here: the memory controller is not available.";
    }
    if (geteuid() != 0) {
        return "evictd cannot work here as this user: run it, and doctor, as root.";
    }
    if (!facts.can_kill) {
        return "evictd cannot work here: no reliable way to kill a pod's processes.";
    }
    if (!bpf_suffices) {
        return "evictd cannot work here as configured: BPF is required and not available.";
    }
    return facts.has_pods_root ? "evictd can work here, but protects no pod now: no pods are known."
                               : "evictd can work here, but protects no pod now: the pods' cgroup does not exist.";
}

}  // namespace

void examine_kernel(const Config& config, std::vector<Finding>& checks) {
    const auto names = name_of_host();
    checks.push_back(
        {.check = "kernel", .chosen = std::string(names.release) + " " + names.machine, .detail = {}, .remedy = {}});
    checks.push_back(type_information());
    checks.push_back(bpf_filesystem(config));
    checks.push_back(pressure());
    checks.push_back(running_agent(config));
}

codec::DoctorReport examine(const Config& config) {
    codec::DoctorReport report;
    report.host = name_of_host().nodename;
    examine_kernel(config, report.checks);
    auto facts = examine_cgroups(config, report.checks);
    examine_cluster(config, facts, report.checks);
    examine_runtime(config, report.checks);
    examine_disks(config, report.checks);
    examine_rights(config, report.checks);
    const bool bpf_suffices = examine_hooks(config, report);
    const bool root = geteuid() == 0;
    const bool has_pods = facts.has_pods_root && facts.has_pod_source;
    report.able = root && facts.has_memory_cgroups && facts.can_kill && bpf_suffices && has_pods;
    report.verdict = verdict(report, facts, bpf_suffices);
    return report;
}

}  // namespace evictd::doctor
