// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/undo.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <unistd.h>

#include "app/claims.hpp"
#include "app/guard.hpp"
#include "app/sources.hpp"
#include "kernel/pins.hpp"
#include "kernel/proc_scores.hpp"
#include "publish/health_socket.hpp"
#include "publish/socket_path.hpp"
#include "reconcile/intent_store.hpp"
#include "reconcile/steered_scores.hpp"

namespace evictd::app {
namespace {

reconcile::PutBack undo_pins(const std::string& path) {
    reconcile::PutBack result;
    const auto removed = kernel::remove_left_pins(path);
    if (!removed) {
        if (removed.error().kind != ErrorKind::vanished) {
            result.failed.push_back(removed.error());
        }
        return result;
    }
    if (!removed->removed.empty()) {
        const std::size_t count = removed->removed.size();
        result.done.push_back("removed " + std::to_string(count) + (count == 1 ? " pin below " : " pins below ") +
                              path);
    }
    result.failed = removed->failed;
    for (const auto& name : removed->foreign) {
        auto& left = result.left.emplace_back(path);
        left.append("/").append(name).append(" is not evictd's");
    }
    return result;
}

reconcile::PutBack undo_socket(const std::string& path) {
    reconcile::PutBack result;
    const auto removed = publish::clear_socket(path);
    if (!removed) {
        result.failed.push_back(removed.error());
    } else if (*removed) {
        result.done.push_back("removed the socket " + path);
    }
    return result;
}

// Every reconciler with a ledger, with nothing desired. What is claimed is released at the end.
Result<reconcile::PutBack> undo_ledgers(const Config& config, kernel::CgroupDirs& cgroups) {
    reconcile::PutBack result;
    const auto& agent = config.agent;
    if (access(agent.state_path.c_str(), F_OK) != 0 && errno == ENOENT) {
        return result;
    }
    const auto state = claim_state(agent.state_path);
    if (state) {
        kernel::ProcScores scores;
        result.add(undo_rungs(rungs_path(agent)));
        result.add(reconcile::put_back_raised(scores, cgroups, raised_path(agent)));
    } else if (state.error().kind == ErrorKind::unreachable) {
        return tl::unexpected(state.error());
    } else {
        result.failed.push_back(state.error());
    }
    return result;
}

// Unless the ledger of scores has reported the same.
void add_fault(const Error& error, reconcile::PutBack& result) {
    const bool is_known = std::any_of(result.failed.begin(), result.failed.end(),
                                      [&](const Error& one) { return one.text() == error.text(); });
    if (!is_known) {
        result.failed.push_back(error);
    }
}

}  // namespace

Result<reconcile::PutBack> undo(const Config& config) {
    auto cgroups = open_cgroups(config);
    if (!cgroups) {
        return tl::unexpected(cgroups.error());
    }
    std::optional<sys::LockFile> pods;
    std::optional<Error> unknown_root;
    if (const auto root = (*cgroups)->find_pods_root()) {
        auto claimed = claim_pods(*root, sys::patience_with_the_dying);
        if (!claimed) {
            return tl::unexpected(claimed.error());
        }
        pods = std::move(*claimed);
    } else if (root.error().kind != ErrorKind::vanished) {
        // A living agent may work on these pods. The ledgers, the pins and the socket have claims of their own.
        unknown_root = root.error();
    }
    auto result = undo_ledgers(config, **cgroups);
    if (!result) {
        return result;
    }
    result->add(reconcile::list_intents(config.agent.intents_path, intents_ledger_path(config.agent)));
    result->add(undo_pins(config.agent.bpffs_path));
    result->add(undo_socket(config.agent.socket_path));
    result->add(undo_socket(publish::health_socket_path(config.agent.socket_path)));
    if (unknown_root) {
        add_fault(*unknown_root, *result);
    }
    return result;
}

}  // namespace evictd::app
