// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wiring's own: the agent, and the functions by which it reaches reconcilers and publishers.
#include <optional>
#include <utility>
#include <vector>

#include "app/claims.hpp"
#include "app/wiring_parts.hpp"

namespace evictd::app {

// The reconcilers exist; what it refers to outlives the agent.
AgentParts Wiring::Parts::agent_parts() {
    return {.loop = *loop,
            .clock = clock,
            .events = *kernel.events,
            .cgroups = *kernel.cgroups,
            .observer = *observer,
            .executor = *executor,
            .socket_shed = *socket_shed,
            .publish = [this](RecordPtr record) { (void)publishers.fanout->publish(std::move(record)); },
            .claim_root = [this](const port::PodsRoot& root) { return claim_pods(root, Duration::zero()); },
            .want_rungs =
                [this](const reconcile::DesiredRungs& desired) {
                    rungs->want(desired);
                    reclaimer->want(desired);
                },
            .want_scores = [this](const reconcile::DesiredScores& desired,
                                  reconcile::Urgency urgency) { scores->want(desired, urgency); },
            .expect_scores =
                [this](reconcile::KeptPod pod) {
                    scores->tell([pod = std::move(pod)](auto& keeper) { keeper.expect(pod); });
                },
            .check_scores = [this](const PodUid& pod) { scores->tell([pod](auto& keeper) { keeper.check(pod); }); },
            .want_pod_statuses =
                [this](const std::vector<DesiredPodStatus>& desired) {
                    if (pod_statuses) {
                        pod_statuses->want(desired);
                    }
                },
            .want_node_status = node_status ? [this](const DesiredNodeStatus& desired) { node_status->want(desired); }
                                            : std::function<void(const DesiredNodeStatus&)>(),
            .note_intent = [this](const DesiredPodStatus& desired) { note_intent(desired); },
            .drop_intent =
                [this](const DesiredPodStatus& desired) {
                    if (pod_statuses) {
                        pod_statuses->tell([pod = desired.pod, attempt = desired.attempt](auto& keeper) {
                            keeper.drop(pod, attempt);
                        });
                    }
                }};
}

Status Wiring::Parts::make_agent() {
    auto made =
        act::Reaper::make(clock, why_no_ledger.empty() ? std::optional(rungs_path(config.agent)) : std::nullopt);
    if (!made) {
        return tl::unexpected(made.error());
    }
    reaper = std::move(*made);
    executor.emplace(clock, *reaper, config.agent.dry_run);
    socket_shed.emplace(clock, kernel.bpf ? &kernel.bpf->sockets() : nullptr, config.agent.dry_run);
    observer.emplace(*kernel.usage, *kernel.node, clock, kernel.stalls.get());
    agent.emplace(
        agent_parts(),
        AgentOptions{.eviction = config.eviction, .dry_run = config.agent.dry_run, .record = tape.has_value()});
    agent->recall(std::exchange(left_intents, {}));
    return {};
}

}  // namespace evictd::app
