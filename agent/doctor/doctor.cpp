// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The report as a whole, and the kernel: versions are shown, never judged by.
#include "doctor/doctor.hpp"

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
        finding.detail = std::string("a trigger: ") + std::strerror(wide);
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
    const auto facts = examine_cgroups(config, report.checks);
    examine_rights(config, report.checks);
    const bool bpf_suffices = examine_hooks(config, report);
    const bool root = geteuid() == 0;
    const bool has_pods = facts.has_pods_root && facts.has_manifests;
    report.able = root && facts.has_memory_cgroups && facts.can_kill && bpf_suffices && has_pods;
    bool all_well = true;
    for (const auto* findings : {&report.checks, &report.hooks}) {
        for (const auto& finding : *findings) {
            all_well = all_well && finding.state == FindingState::ok;
        }
    }
    if (report.able) {
        report.verdict = all_well ? "evictd can do its job here, with everything it knows to use."
                                  : "evictd can do its job here, with the limits listed above.";
    } else {
        report.verdict = !facts.has_memory_cgroups ? "evictd cannot work here: there is no memory controller."
                         : !root           ? "evictd cannot work here as this user: run it, and doctor, as root."
                         : !facts.can_kill ? "evictd cannot work here: there is no sure way to end a pod's processes."
                         : !bpf_suffices   ? "evictd cannot work here as configured: BPF is required and cannot be had."
                         : !facts.has_pods_root
                             ? "evictd can work here, but protects no pod now: there is no pods' cgroup."
                             : "evictd can work here, but protects no pod now: no pods are known.";
    }
    return report;
}

}  // namespace evictd::doctor
