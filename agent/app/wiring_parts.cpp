// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/wiring_parts.hpp"

#include <algorithm>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "app/score_row.hpp"
#include "kernel/ladder_support.hpp"
#include "kernel/pins.hpp"
#include "policy/exhaustion.hpp"
#include "policy/oom_score.hpp"

namespace evictd::app {
namespace {

// Of the normal threads it should be the first to run: how much it has to do is up to the pods, so it has no real-time
// priority but to raise one pod, while others take the machine's memory as fast as they can.
constexpr int scores_niceness = -20;

reconcile::ScoreOptions score_options(const Config& config) {
    return {.policy = config.agent.oom_score_adj_policy,
            .steering = config.agent.oom_score_adj_steering,
            .dry_run = config.agent.dry_run,
            .ledger_path = raised_path(config.agent),
            .wanted =
                [guaranteed = config.guaranteed_oom_score_adj](const Pod& pod, const std::string& container,
                                                               Bytes node_memory) {
                    return policy::oom_score_adj_range(pod, container, node_memory, guaranteed);
                },
            .cpu_time = sys::thread_cpu_time};
}

void log_put_back(const reconcile::PutBack& result) {
    for (const auto& error : result.failed) {
        sys::log::error("could not restore what a killed evictd left: " + error.text());
    }
    for (const auto& done : result.done) {
        sys::log::warn("after a killed evictd: " + done);
    }
}

}  // namespace

// Whose pods these are is settled before anything is loaded, pinned or listened on.
Status Wiring::Parts::open_kernel() {
    auto cgroups = open_cgroups(config);
    if (!cgroups) {
        return tl::unexpected(cgroups.error());
    }
    if (const auto root = (*cgroups)->find_pods_root()) {
        if (auto claimed = claim_pods(*root, sys::patience_with_the_dying); !claimed) {
            return claimed;
        }
    }
    auto sources = open_sources(config, std::move(*cgroups), clock);
    if (!sources) {
        return tl::unexpected(sources.error());
    }
    kernel = std::move(*sources);
    if (!kernel.bpf && !config.agent.bpffs_path.empty()) {
        // A killed agent's programs run on while they are pinned. With BPF its pins have just been replaced.
        (void)kernel::remove_left_pins(config.agent.bpffs_path);
    }
    return {};
}

Status Wiring::Parts::claim_pods(const port::PodsRoot& root, Duration patience) {
    if (claim && claimed_root == root.id) {
        return {};
    }
    auto taken = app::claim_pods(root, patience);
    if (!taken) {
        return tl::unexpected(taken.error());
    }
    claim = std::move(*taken);
    claimed_root = root.id;
    return {};
}

// Without a ledger nothing may be done that would have to be put back: no limits, freezes or raised scores.
Status Wiring::Parts::post_guard() {
    if (config.agent.dry_run) {
        return {};
    }
    auto taken = claim_state(config.agent.state_path);
    if (!taken) {
        why_no_ledger = taken.error().text();
        config.eviction.ladder.squeeze = false;
        config.eviction.ladder.freeze = false;
        config.agent.oom_score_adj_steering = false;
        return {};
    }
    state_claim = std::move(*taken);
    if (!Guard::is_needed(config)) {
        return {};
    }
    auto posted = Guard::post(rungs_path(config.agent));
    if (!posted) {
        return tl::unexpected(posted.error());
    }
    guard = std::move(*posted);
    return {};
}

Status Wiring::Parts::make_publishers() {
    auto made = app::make_publishers({.settings = config.agent,
                                      .node = node,
                                      .clock = clock,
                                      .bpf = kernel.bpf.get(),
                                      .agent = facts(),
                                      .request_look = [this] { loop->post([this] { agent->request_look(); }); },
                                      .api = api,
                                      .may_spool = why_no_ledger.empty(),
                                      .record = tape});
    if (!made) {
        return tl::unexpected(made.error());
    }
    publishers = std::move(*made);
    return {};
}

publish::AgentFacts Wiring::Parts::facts() const {
    return {.status = describe(),
            .eviction = config.eviction,
            .pod_source_states = states_of(pod_sources),
            .api = [server = api, counters = pod_status_counters] {
                return ApiUse{.requests = server ? server->figures() : ApiFigures{},
                              .pods = counters ? counters->figures() : PodStatusFigures{}};
            }};
}

codec::AgentStatus Wiring::Parts::describe() const {
    codec::AgentStatus status{.node = node,
                              .version = EVICTD_VERSION,
                              .pid = getpid(),
                              .started = started_at,
                              .dry_run = config.agent.dry_run,
                              .config_file = config.file,
                              .thresholds = config.eviction.thresholds,
                              .stalls = config.eviction.stalls,
                              .uncounted_stalls = kernel.stalls->uncounted(),
                              .sources = kernel.events->sources(),
                              .pod_sources = {}};
    status.sources.push_back(score_row);
    status.sources.push_back(rungs_row);
    if (disks) {
        status.sources.push_back(disks_row);
    }
    if (node_status && config.eviction.node_status != NodeStatusUse::off) {
        status.sources.push_back(node_status_row);
    }
    if (api) {
        status.sources.push_back(shutdown_row);
    }
    if (kubelet_eviction || !kubelet_unknown.empty()) {
        status.sources.push_back(kubelet_row());
    }
    for (const auto& threshold : policy::time_thresholds(config.eviction)) {
        if (disks || is_memory(threshold.signal)) {
            status.thresholds.push_back(threshold);
        }
    }
    for (const auto& source : pod_sources) {
        // What is a server shows its state instead.
        if (source->states().empty()) {
            status.pod_sources.push_back(source->describe());
        }
    }
    return status;
}

// False: refused.
bool Wiring::Parts::show_scores(const reconcile::ScoreFigures& figures) {
    return loop->post([this, row = app::score_row(config.agent, figures)]() mutable {
        score_row = std::move(row);
        publishers.board->set_agent(facts());
    });
}

// Before the agent says anything: what an agent that was killed left raised is put back first.
Status Wiring::Parts::make_scores() {
    using Scores = reconcile::ControlLoop<reconcile::ScoreKeeper>;
    std::optional<Result<std::vector<port::FoundPod>>> left;
    if (why_no_ledger.empty()) {
        // Also where no pods are known yet: what is remembered must not be overwritten.
        left = claim ? kernel.cgroups->list_pods() : fail(ErrorKind::failed, "pods' cgroup", "it is not known yet");
    }
    const auto start = [left = std::move(left)](reconcile::ScoreKeeper& keeper) {
        // Of this thread alone, which is what Linux means by a process here. Refused: slower, no more.
        (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), scores_niceness);
        if (left) {
            keeper.recover(*left);
        }
    };
    const auto after_each = [this, shown = std::optional<reconcile::ScoreFigures>()](const auto& keeper) mutable {
        if (auto figures = keeper.figures(); figures != shown && show_scores(figures)) {
            shown = std::move(figures);
        }
    };
    auto made = Scores::make({.name = "evictd-scores",
                              .urgent_priority = urgency_below(config.agent.realtime_priority),
                              .start = start,
                              .after_each = after_each},
                             process_scores, clock, score_options(config), [this](AgentNotice notice) {
                                 (void)publishers.fanout->publish(std::make_shared<const Record>(std::move(notice)));
                             });
    if (!made) {
        return tl::unexpected(made.error());
    }
    scores = std::move(*made);
    return {};
}

// As make_scores(): what was left is put back before the agent says anything.
Status Wiring::Parts::make_rungs() {
    const auto& hierarchies = kernel.cgroups->hierarchies();
    rungs_row = kernel::ladder_row(config.eviction.ladder, hierarchies);
    config.eviction.ladder = kernel::possible_rungs(config.eviction.ladder, hierarchies);
    pod_controls.emplace(hierarchies);
    const auto tell = [this](RungOutcome outcome) {
        loop->post([this, kept = std::move(outcome)]() mutable { agent->note_rung(std::move(kept)); });
    };
    const auto recover = [has_ledger = why_no_ledger.empty()](reconcile::RungKeeper& keeper) {
        if (has_ledger) {
            log_put_back(keeper.recover());
        }
    };
    const reconcile::RungOptions options{.dry_run = config.agent.dry_run, .ledger_path = rungs_path(config.agent)};
    auto held = reconcile::ControlLoop<reconcile::RungKeeper>::make({.name = "evictd-rungs", .start = recover},
                                                                    *pod_controls, clock, options, tell);
    if (!held) {
        return tl::unexpected(held.error());
    }
    rungs = std::move(*held);
    auto reclaimed = reconcile::ControlLoop<reconcile::Reclaimer>::make(
        {.name = "evictd-reclaim", .duty = sys::Duty::may_block}, *pod_controls, clock, config.agent.dry_run, tell);
    if (!reclaimed) {
        return tl::unexpected(reclaimed.error());
    }
    reclaimer = std::move(*reclaimed);
    return {};
}

}  // namespace evictd::app
