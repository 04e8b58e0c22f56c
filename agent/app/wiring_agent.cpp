// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wiring's own: the agent, and the functions by which it reaches reconcilers and publishers.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/claims.hpp"
#include "app/realtime.hpp"
#include "app/wiring_parts.hpp"
#include "kernel/cgroup_remains.hpp"

namespace evictd::app {
namespace {

// All oom_score_adj are read, where the kernel also reports each write: finds what a process brought along that was
// moved into a pod. After reports were lost, the next look reads them too. To read them costs 26 system calls a
// process.
constexpr Duration score_period = std::chrono::minutes(5);

}  // namespace

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
            .disks = disk_parts(),
            .pids = kernel.pids.get(),
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

// News come as often as filesystems are asked: one that waits in the loop stands for all.
DiskNews Wiring::Parts::disk_news() {
    return {.changed =
                [this] {
                    if (disk_news_waits.exchange(true)) {
                        return;
                    }
                    const bool posted = loop->post([this] {
                        disk_news_waits = false;
                        show_disks();
                        agent->note_disks();
                    });
                    if (!posted) {
                        disk_news_waits = false;
                    }
                },
            .inventory =
                [this](RuntimePtr inventory) {
                    return loop->post([this, kept = std::move(inventory)] { agent->note_inventory(kept); });
                },
            .reclaimed =
                [this](ReclaimOutcome outcome) {
                    return loop->post(
                        [this, kept = std::move(outcome)]() mutable { agent->note_reclaimed(std::move(kept)); });
                },
            .runtime =
                [this](std::string message, std::string trouble) {
                    return loop->post([this, message = std::move(message), trouble = std::move(trouble)] {
                        trouble.empty() ? sys::log::info(message) : sys::log::warn(message + ": " + trouble);
                        agent->notice(Notice::signal_source_changed, message, trouble);
                    });
                }};
}

void Wiring::Parts::show_disks() {
    auto row = disks->row();
    if (row.chosen == disks_row.chosen && row.detail == disks_row.detail) {
        return;
    }
    disks_row = std::move(row);
    publishers.board->set_agent(facts());
}

// After the agent is made: its threads tell it what they find.
Status Wiring::Parts::start_disks() {
    if (!config.agent.disks) {
        return {};
    }
    auto mounts = kernel::hierarchy_mounts(kernel.cgroups->hierarchies());
    std::unique_ptr<port::CgroupRemains> cgroups;
    if (mounts) {
        cgroups = std::make_unique<kernel::CgroupRemains>(std::move(*mounts), kernel.cgroups->candidates());
    }
    auto made = Disks::make(config, clock, disk_news(), api, std::move(cgroups));
    if (!made) {
        return tl::unexpected(made.error());
    }
    disks = std::move(*made);
    return {};
}

DiskParts Wiring::Parts::disk_parts() {
    if (!config.agent.disks) {
        return {};
    }
    return {.filesystems = [this] { return disks ? disks->filesystems() : FilesystemsView{}; },
            .figures = [this] { return disks ? disks->figures() : observe::DiskFigures{}; },
            .set_filesystem_pace =
                [this](Duration pace) {
                    if (disks) {
                        disks->set_filesystem_pace(pace);
                    }
                    return disks != nullptr;
                },
            .set_layers_pace = [this](Duration pace) { return disks && disks->set_layers_pace(pace); },
            .refresh =
                [this](const std::vector<PodUid>& pods) {
                    if (disks) {
                        disks->refresh(pods);
                    }
                },
            .want_garbage =
                [this](const DesiredGarbage& desired) {
                    if (disks) {
                        disks->want_garbage(desired);
                    }
                },
            .has_runtime = [this] { return disks && disks->has_runtime(); },
            .names = [this] { return disks ? disks->names() : nullptr; },
            .want_names =
                [this] {
                    if (disks) {
                        disks->want_names();
                    }
                }};
}

Status Wiring::Parts::make_agent() {
    auto made = act::Reaper::make(clock, why_no_ledger.empty() ? std::optional(rungs_path(config.agent)) : std::nullopt,
                                  act::release_memory, urgency_below(config.agent.realtime_priority));
    if (!made) {
        return tl::unexpected(made.error());
    }
    reaper = std::move(*made);
    executor.emplace(clock, *reaper, config.agent.dry_run);
    socket_shed.emplace(clock, kernel.bpf ? &kernel.bpf->sockets() : nullptr, config.agent.dry_run);
    observer.emplace(*kernel.usage, *kernel.node, clock, kernel.stalls.get());
    const bool scores_are_reported = kernel.bpf && kernel.bpf->feeds("oom_score");
    agent.emplace(agent_parts(), AgentOptions{.eviction = config.eviction,
                                              .dry_run = config.agent.dry_run,
                                              .record = tape.has_value(),
                                              .score_period = scores_are_reported ? score_period : Duration{},
                                              .pod_sources = pod_sources.size()});
    agent->recall(std::exchange(left_intents, {}));
    return {};
}

}  // namespace evictd::app
