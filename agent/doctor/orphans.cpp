// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the removal of orphans needs: the API server's word, processes that can be seen, directories that can be written
// to. It also names the pods that have directories here and that the running agent does not know.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "codec/agent_pods.hpp"
#include "disk/pod_mounts.hpp"
#include "doctor/doctor.hpp"
#include "evictd/model/log_names.hpp"
#include "evictd/model/text.hpp"
#include "kernel/hierarchies.hpp"
#include "kube/api_access.hpp"
#include "publish/status_client.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;
using Uids = std::set<std::string>;

// Of no pod.
constexpr auto no_uid = "00000000-0000-0000-0000-000000000000";
constexpr std::size_t most_named = 3;

// None: no agent answers.
std::optional<Uids> known_pods(const Config& config) {
    auto client = publish::StatusClient::connect(config.agent.socket_path);
    const auto answer = client ? client->ask({}) : tl::unexpected<Error>(client.error());
    const auto pods = answer ? codec::agent_pods(*answer) : std::nullopt;
    if (!pods) return std::nullopt;
    Uids uids;
    for (const auto& one : *pods) uids.insert(one.pod.uid.value);
    return uids;
}

std::vector<std::string> directories_in(const std::string& path) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
        std::error_code unknown;
        if (std::filesystem::is_directory(at->symlink_status(unknown))) names.push_back(at->path().filename());
    }
    return names;
}

std::string say_left(const Config& config) {
    const auto known = known_pods(config);
    if (!known) return "which directories are of unknown pods cannot be told: no agent answers";
    auto left = pods_with_directories(config);
    std::erase_if(left, [&](const auto& uid) { return known->contains(uid); });
    if (left.empty()) return "no directory of a pod that the agent does not know";
    std::string names;
    std::size_t named = 0;
    for (const auto& uid : left) {
        if (named++ < most_named) names += (names.empty() ? "" : ", ") + printable(uid);
    }
    return fmt::format("directories of {} that the agent does not know: {}{}", pods_text(left.size()), names,
                       left.size() > most_named ? ", ..." : "");
}

void add(std::string& stays, const std::string& why, const char* what) {
    if (!why.empty()) stays += (stays.empty() ? "" : "; ") + why + ": " + what;
}

// Of all hierarchies the first that is read-only.
std::string why_cgroups_stay() {
    const auto hierarchies = kernel::find_hierarchies();
    const auto mounts = hierarchies ? kernel::hierarchy_mounts(*hierarchies) : tl::unexpected(hierarchies.error());
    if (!mounts) return mounts.error().text();
    for (const auto& mount : *mounts) {
        if (auto why = why_unwritable(mount); !why.empty()) return why;
    }
    return {};
}

// Empty: all can go.
std::string what_stays(const Config& config) {
    std::string stays;
    add(stays, why_unwritable(config.agent.cluster.pods_directory()),
        "volume directories stay, and log directories with them");
    add(stays, why_unwritable(config.pod_logs_dir), "log directories stay");
    add(stays, why_cgroups_stay(), "cgroups stay");
    return stays;
}

Finding worse(Finding finding, FindingState state, std::string detail, std::string remedy) {
    finding.state = state;
    finding.detail = std::move(detail);
    finding.remedy = std::move(remedy);
    return finding;
}

Finding orphans_finding(const Config& config) {
    const auto& garbage = config.eviction.garbage;
    const bool removes = garbage.orphans == Orphans::remove && !config.agent.dry_run;
    Finding finding{.check = "orphans", .chosen = {}, .detail = {}, .remedy = {}};
    finding.chosen = fmt::format("{} after {}; {}", removes ? "removed" : "reported",
                                 to_string(garbage.orphan_quarantine), say_left(config));
    if (!kube::find_access(config.agent.cluster)) {
        return worse(std::move(finding), FindingState::missing,
                     "nothing is an orphan without an API server, which says that its pod is gone",
                     "set evictd.kubeconfig, or run evictd as a pod");
    }
    if (::geteuid() != 0) {
        return worse(std::move(finding), FindingState::unknown, "only root sees what can be removed",
                     "run doctor as root");
    }
    const auto seen = disk::process_in_pod({.pods = config.agent.cluster.pods_directory()}, {no_uid});
    if (!seen) {
        return worse(std::move(finding), FindingState::missing, seen.error().what + ": " + seen.error().why,
                     "in a container, give it hostPID");
    }
    auto stays = removes ? what_stays(config) : std::string();
    if (stays.empty()) return finding;
    const bool has_pods = ::access(config.agent.cluster.pods_directory().c_str(), F_OK) == 0 || errno != ENOENT;
    return worse(std::move(finding), FindingState::fallback, std::move(stays),
                 std::string(has_pods ? "" : "set evictd.kubelet.rootDirectory; ") +
                     "in a container, mount it writable at its own path (deploy/kustomize/overlays/orphans)");
}

}  // namespace

std::string why_unwritable(const std::string& path) {
    if (::access(path.c_str(), R_OK | W_OK | X_OK) == 0) return {};
    return printable(path) + ": " + std::strerror(errno);
}

std::set<std::string> pods_with_directories(const Config& config) {
    const auto volumes = directories_in(config.agent.cluster.pods_directory());
    std::set<std::string> uids(volumes.begin(), volumes.end());
    for (const auto& logs : directories_in(config.pod_logs_dir)) uids.insert(pod_of_log_directory(logs));
    return uids;
}

void examine_orphans(const Config& config, std::vector<Finding>& checks) {
    if (config.agent.disks && config.eviction.garbage.orphans != Orphans::off) {
        checks.push_back(orphans_finding(config));
    }
}

}  // namespace evictd::doctor
