// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/claims.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>

#include "sys/own_directory.hpp"

namespace evictd::app {

Result<sys::LockFile> claim_pods(const port::PodsRoot& root, Duration patience) {
    return sys::LockFile::take({.name = "pods-" + std::to_string(root.id.value),
                                .object = root.path,
                                .holder = "another evictd works on these pods",
                                .remedy = "stop it first, or give this one another cgroupRoot",
                                .patience = patience});
}

Result<sys::LockFile> claim_state(const std::string& state_path) {
    const auto directory = sys::make_own_directories(state_path, sys::Access::readable);
    if (!directory) {
        return tl::unexpected(directory.error());
    }
    struct stat status {};
    if (fstat(directory->get(), &status) != 0) {
        return sys::fail_errno(state_path, errno);
    }
    return sys::LockFile::take({.name = fmt::format("state-{}-{}", status.st_dev, status.st_ino),
                                .object = state_path,
                                .holder = "another evictd keeps its ledgers there",
                                .remedy = "stop it first, or give this one another evictd.statePath",
                                .is_shared_with_children = true});
}

std::string rungs_path(const AgentConfig& config) { return config.state_path + "/rungs"; }

std::string intents_ledger_path(const AgentConfig& config) { return config.state_path + "/intents"; }

std::string kube_events_path(const AgentConfig& config) { return config.state_path + "/kube_events"; }

std::string raised_path(const AgentConfig& config) { return config.state_path + "/raised_scores"; }

}  // namespace evictd::app
