// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/undo.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include <unistd.h>

#include "app/claims.hpp"
#include "app/guard.hpp"
#include "app/sources.hpp"
#include "evictd/model/oom_score.hpp"
#include "kernel/pins.hpp"
#include "kernel/proc_scores.hpp"
#include "publish/socket_path.hpp"
#include "reconcile/memory_file.hpp"
#include "reconcile/raised_scores.hpp"

namespace evictd::app {
namespace {

using Raised = std::map<PodUid, reconcile::RaisedPod>;

// Only what still has what the agent gave it.
reconcile::PutBack lower(const reconcile::RaisedPod& raised, const port::FoundPod& pod) {
    kernel::ProcScores scores;
    reconcile::PutBack result;
    int lowered = 0;
    const std::string what = "oom_score_adj in " + pod.cgroup->path();
    const auto listed = scores.each(*pod.cgroup, [&](port::ScoredProcess& process) {
        const auto score = process.score();
        const auto before = raised.before(process);
        if (!score || *score != highest_oom_score_adj || !before || *before == *score) {
            return;
        }
        if (const auto set = process.set_score(*before); set) {
            lowered++;
        } else if (set.error().kind != ErrorKind::vanished && result.failed.empty()) {
            result.failed.push_back({set.error().kind, what, set.error().text(), ""});
        }
    });
    if (!listed && listed.error().kind != ErrorKind::vanished) {
        result.failed.push_back({listed.error().kind, what, listed.error().text(), ""});
    }
    if (lowered > 0) {
        result.done.push_back("put back oom_score_adj of " + std::to_string(lowered) +
                              (lowered == 1 ? " process in " : " processes in ") + pod.cgroup->path());
    }
    return result;
}

// A pod that is not listed is gone, and its processes with it; where not all can be listed it may be there.
reconcile::PutBack lower_all(Raised& raised, kernel::CgroupDirs& cgroups) {
    reconcile::PutBack result;
    const auto root = cgroups.find_pods_root();
    if (!root) {
        result.failed.push_back(root.error());
        if (root.error().kind == ErrorKind::vanished) {
            result.failed.back().remedy = "name the kubelet's --cgroup-root as cgroupRoot";
        }
        return result;
    }
    Raised left;
    const auto listed = cgroups.each_pod([&](const port::FoundPod& pod) {
        const auto one = raised.find(pod.uid);
        if (one == raised.end() || one->second.cgroup != pod.cgroup->id()) {
            return;
        }
        auto lowered = lower(one->second, pod);
        if (!lowered.failed.empty()) {
            left.insert(*one);
        }
        result.add(std::move(lowered));
        raised.erase(one);
    });
    if (!listed) {
        result.failed.push_back(listed.error());
        left.merge(raised);
    }
    raised = std::move(left);
    return result;
}

reconcile::PutBack undo_scores(const std::string& path, kernel::CgroupDirs& cgroups) {
    Result<Raised> remembered = reconcile::remembered_raised(path);
    if (!remembered) {
        Error fault = remembered.error();
        if (fault.kind == ErrorKind::invalid && reconcile::set_aside(path)) {
            fault.remedy = "look at " + path + ".broken and at the pods' oom_score_adj";
        }
        return {.done = {}, .left = {}, .failed = {std::move(fault)}};
    }
    reconcile::PutBack result;
    if (!remembered->empty()) {
        result = lower_all(*remembered, cgroups);
    }
    if (auto written = reconcile::remember_raised(path, *remembered); !written) {
        result.failed.push_back(written.error());
    }
    return result;
}

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
        result.done.push_back("removed " + std::to_string(removed->removed.size()) + " pins below " + path);
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

// What it claims is released by its end.
Result<reconcile::PutBack> undo_ledgers(const Config& config, kernel::CgroupDirs& cgroups) {
    reconcile::PutBack result;
    const auto& agent = config.agent;
    if (access(agent.state_path.c_str(), F_OK) != 0 && errno == ENOENT) {
        return result;
    }
    const auto state = claim_state(agent.state_path);
    if (state) {
        result.add(undo_rungs(rungs_path(agent)));
        result.add(undo_scores(raised_path(agent), cgroups));
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
    result->add(undo_pins(config.agent.bpffs_path));
    result->add(undo_socket(config.agent.socket_path));
    if (unknown_root) {
        add_fault(*unknown_root, *result);
    }
    return result;
}

}  // namespace evictd::app
