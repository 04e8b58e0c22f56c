// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/wiring_house.hpp"

#include <utility>

#include <unistd.h>

#include "kernel/ladder_support.hpp"
#include "kernel/pins.hpp"
#include "policy/exhaustion.hpp"

namespace evictd::app {

// Whose pods these are is settled before anything is loaded, pinned or listened on.
Status Wiring::House::open_kernel() {
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

Status Wiring::House::claim_pods(const port::PodsRoot& root, Duration patience) {
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
Status Wiring::House::post_guard() {
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

Status Wiring::House::make_publishers() {
    auto made = app::make_publishers({.settings = config.agent,
                                      .node = node,
                                      .clock = clock,
                                      .bpf = kernel.bpf.get(),
                                      .agent = facts(),
                                      .request_look = [this] { loop->post([this] { agent->request_look(); }); },
                                      .record = tape});
    if (!made) {
        return tl::unexpected(made.error());
    }
    publishers = std::move(*made);
    return {};
}

publish::AgentFacts Wiring::House::facts() const { return {describe(), config.eviction}; }

codec::AgentStatus Wiring::House::describe() const {
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
    for (const auto& threshold : policy::time_thresholds(config.eviction)) {
        status.thresholds.push_back(threshold);
    }
    for (const auto& source : pod_sources) {
        status.pod_sources.push_back(source->describe());
    }
    return status;
}

// Before the agent says anything: what an agent that was killed left raised is put back first.
Status Wiring::House::make_scores() {
    auto made =
        ScoreLane::make({.scores = process_scores,
                         .clock = clock,
                         .tell =
                             [this](AgentNotice notice) {
                                 (void)publishers.fanout->publish(std::make_shared<const Record>(std::move(notice)));
                             },
                         .show =
                             [this](SourceRow row) {
                                 loop->post([this, kept = std::move(row)]() mutable {
                                     score_row = std::move(kept);
                                     publishers.board->set_agent(facts());
                                 });
                             }},
                        config);
    if (!made) {
        return tl::unexpected(made.error());
    }
    scores = std::move(*made);
    if (claim && why_no_ledger.empty()) {
        scores->recover(kernel.cgroups->list_pods());
    }
    return {};
}

// As make_scores(): what was left is put back before the agent says anything.
Status Wiring::House::make_rungs() {
    const auto& hierarchies = kernel.cgroups->hierarchies();
    rungs_row = kernel::ladder_row(config.eviction.ladder, hierarchies);
    config.eviction.ladder = kernel::possible_rungs(config.eviction.ladder, hierarchies);
    pod_controls.emplace(hierarchies);
    auto made = LadderLanes::make(
        {.controls = *pod_controls,
         .clock = clock,
         .tell =
             [this](RungOutcome outcome) {
                 loop->post([this, kept = std::move(outcome)]() mutable { agent->note_rung(std::move(kept)); });
             }},
        config);
    if (!made) {
        return tl::unexpected(made.error());
    }
    rungs = std::move(*made);
    if (why_no_ledger.empty()) {
        rungs->recover();
    }
    return {};
}

Status Wiring::House::make_agent() {
    auto made =
        act::Reaper::make(clock, why_no_ledger.empty() ? std::optional(rungs_path(config.agent)) : std::nullopt);
    if (!made) {
        return tl::unexpected(made.error());
    }
    reaper = std::move(*made);
    executor.emplace(clock, *reaper, config.agent.dry_run);
    socket_shed.emplace(clock, kernel.bpf ? &kernel.bpf->sockets() : nullptr, config.agent.dry_run);
    observer.emplace(*kernel.usage, *kernel.node, clock, kernel.stalls.get());
    agent.emplace(Parts{.loop = *loop,
                        .clock = clock,
                        .events = *kernel.events,
                        .cgroups = *kernel.cgroups,
                        .observer = *observer,
                        .executor = *executor,
                        .socket_shed = *socket_shed,
                        .publish = [this](RecordPtr record) { (void)publishers.fanout->publish(std::move(record)); },
                        .claim_root = [this](const port::PodsRoot& root) { return claim_pods(root, Duration::zero()); },
                        .scores = scores.get(),
                        .rungs = rungs.get()},
                  AgentOptions{.eviction = config.eviction,
                               .look_period = config.agent.look_period,
                               .dry_run = config.agent.dry_run,
                               .record = tape.has_value()});
    return {};
}

}  // namespace evictd::app
