// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Doctor: the cgroup hierarchies, the pods in them, and how their processes can be ended.
#include <cerrno>
#include <cstdint>

#include <sys/stat.h>

#include "doctor/doctor.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "kernel/ladder_support.hpp"
#include "kernel/probes.hpp"
#include "sys/fd.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;

Finding layout(const kernel::Hierarchies& hierarchies) {
    Finding finding{.check = "cgroups", .chosen = hierarchies.layout(), .detail = {}, .remedy = {}};
    finding.detail = "memory controller at " + hierarchies.memory;
    if (!hierarchies.freezer.empty()) {
        finding.detail += ", freezer at " + hierarchies.freezer;
    }
    if (!hierarchies.v2 && !hierarchies.unified.empty()) {
        finding.detail += ", v2 without controllers at " + hierarchies.unified;
    }
    return finding;
}

Finding pods_root(kernel::CgroupDirs& cgroups, HostFacts& facts) {
    Finding finding{.check = "pods' cgroup", .chosen = {}, .detail = {}, .remedy = {}};
    const auto root = cgroups.find_pods_root();
    if (root) {
        facts.has_pods_root = true;
        const auto pods = cgroups.list_pods();
        finding.chosen = root->path;
        finding.detail = pods ? pods_text(pods->size()) : pods.error().text();
        return finding;
    }
    finding.state = FindingState::missing;
    if (root.error().kind != ErrorKind::vanished) {
        finding.detail = root.error().why;
        return finding;
    }
    finding.detail = "looked for " + cgroups.searched() + " below " + cgroups.hierarchies().memory +
                     "; evictd waits until there is one";
    finding.remedy = "start the kubelet, or name its --cgroup-root as cgroupRoot";
    return finding;
}

enum class Found : std::uint8_t { directory, something_else, nothing };

// Only ENOENT and ENOTDIR prove that it does not exist.
Result<Found> find_directory(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) == 0) {
        return S_ISDIR(status.st_mode) ? Found::directory : Found::something_else;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return Found::nothing;
    }
    return sys::fail_errno(path, errno);
}

}  // namespace

std::string pods_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " pod" : " pods"); }

Finding find_manifests(const Config& config, HostFacts& facts) {
    const auto& path = config.agent.pod_manifest_path;
    const auto found = find_directory(path);
    facts.has_pod_source = found == Found::directory || find_directory(config.static_pod_path) == Found::directory;
    if (!found) {
        return {.check = "pod manifests",
                .state = FindingState::missing,
                .chosen = {},
                .detail = found.error().text() + "; no pods are known from it until it can be read",
                .remedy = found.error().kind == ErrorKind::not_permitted ? "let evictd's user read it" : ""};
    }
    if (*found == Found::directory) {
        return {.check = "pod manifests", .chosen = path, .detail = {}, .remedy = {}};
    }
    return {.check = "pod manifests",
            .state = FindingState::missing,
            .chosen = {},
            .detail = path + (*found == Found::nothing ? " does not exist" : " is not a directory") +
                      ": no pods are known, so none can be evicted",
            .remedy = "put Pod manifests there, or name their directory as evictd.podManifestPath"};
}

namespace {

Finding way_to_kill(const kernel::Hierarchies& hierarchies, HostFacts& facts) {
    Finding finding{.check = "kill", .chosen = {}, .detail = {}, .remedy = {}};
    const bool pidfd = kernel::probe_pidfd() == 0;
    facts.can_kill = true;
    if (hierarchies.v2 && kernel::probe_cgroup_file(hierarchies, "cgroup.kill") == 0) {
        finding.chosen = "cgroup.kill";
        finding.detail = "all of a pod's processes in one write";
    } else if (pidfd) {
        const bool freezer = hierarchies.v2 || !hierarchies.freezer.empty();
        finding.state = FindingState::fallback;
        finding.chosen = freezer ? "pidfd, freezer" : "pidfd";
        finding.detail =
            std::string("each of a pod's processes is signalled by pidfd, again until the pod is empty; ") +
            (freezer ? "one that forks meanwhile is frozen for it"
                     : "one that forks quickly takes several rounds: there is no freezer");
        finding.remedy =
            hierarchies.v2 ? "use a kernel with cgroup.kill (5.14)" : "boot with cgroup v2, which has cgroup.kill";
    } else {
        facts.can_kill = false;
        finding.state = FindingState::missing;
        finding.detail = "neither cgroup.kill nor pidfd_open(2)";
        finding.remedy = "use a kernel with pidfd_open(2) (5.3)";
    }
    return finding;
}

// All that the kernel offers, whatever is configured.
Finding ladder(const kernel::Hierarchies& hierarchies) {
    const auto row = kernel::ladder_row({.reclaim = true, .squeeze = true, .freeze = true}, hierarchies);
    Finding finding{.check = "ladder", .chosen = row.chosen, .detail = row.detail, .remedy = {}};
    if (row.fallback) {
        finding.state = row.chosen.empty() ? FindingState::missing : FindingState::fallback;
        finding.remedy = hierarchies.v2 ? "use Linux 5.19 or newer" : "boot with cgroup v2";
    }
    return finding;
}

}  // namespace

HostFacts examine_cgroups(const Config& config, std::vector<Finding>& checks) {
    HostFacts facts;
    const auto hierarchies = kernel::find_hierarchies();
    if (!hierarchies) {
        checks.push_back({.check = "cgroups",
                          .state = FindingState::missing,
                          .chosen = {},
                          .detail = hierarchies.error().why,
                          .remedy = hierarchies.error().remedy});
        return facts;
    }
    facts.has_memory_cgroups = true;
    kernel::CgroupDirs cgroups(*hierarchies, config.cgroup_root, config.cgroup_driver);
    checks.push_back(layout(*hierarchies));
    checks.push_back(pods_root(cgroups, facts));
    checks.push_back(find_manifests(config, facts));
    checks.push_back(way_to_kill(*hierarchies, facts));
    checks.push_back(ladder(*hierarchies));
    const bool release = kernel::probe_process_mrelease() == 0;
    checks.push_back(
        {.check = "process_mrelease",
         .state = release ? FindingState::ok : FindingState::missing,
         .chosen = release ? "yes" : "",
         .detail = release ? "" : "a victim's memory comes back when it gets scheduled to exit, not at once",
         .remedy = release ? "" : "use a kernel with process_mrelease(2) (5.15)"});
    return facts;
}

}  // namespace evictd::doctor
