// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Wiring's own: the reconciler of pod statuses, and where intents are noted.
#include <utility>

#include "app/claims.hpp"
#include "app/wiring_parts.hpp"
#include "sys/log.hpp"

namespace evictd::app {

// Without the file evictions work as well; but if the agent is killed before the API server answers, the next agent
// does not know of them.
void Wiring::Parts::open_intents() {
    auto opened = reconcile::IntentFile::open(config.agent.intents_path);
    if (opened) {
        intents = std::move(*opened);
    } else {
        sys::log::warn("evictions are not noted before they are carried out: " + opened.error().text());
    }
}

// What earlier agents left is read before the first look, which adopts it. With a dry run it stays for another agent.
Status Wiring::Parts::make_pod_statuses() {
    config.eviction.pod_statuses = api != nullptr && config.agent.cluster.pod_status;
    config.eviction.soft_eviction_api = config.eviction.pod_statuses && config.agent.cluster.soft_eviction_api;
    if (!config.eviction.pod_statuses) {
        return {};  // what an earlier agent noted stays noted
    }
    std::vector<reconcile::Intent> noted;
    reconcile::IntentStore store(nullptr, "");
    if (!config.agent.dry_run) {
        open_intents();
        store = reconcile::IntentStore(intents.get(), why_no_ledger.empty() ? intents_ledger_path(config.agent) : "");
        noted = store.recover();
    }
    for (const auto& intent : noted) {
        if (reconcile::is_resumable(intent, clock.monotonic())) {
            left_intents.push_back(intent.status);  // of another boot: what runs was started since
        }
    }
    auto writer = reconcile::IntentWriter::make(std::move(store));
    if (!writer) {
        return tl::unexpected(writer.error());
    }
    intent_writer = std::move(*writer);
    return start_pod_statuses(std::move(noted));
}

Status Wiring::Parts::start_pod_statuses(std::vector<reconcile::Intent> noted) {
    const auto tell = [this](PodStatusOutcome outcome) {
        return loop->post([this, kept = std::move(outcome)]() mutable { agent->note_pod_status(std::move(kept)); });
    };
    auto made = reconcile::ControlLoop<reconcile::PodStatusKeeper>::make(
        {.name = "evictd-statuses",
         .duty = sys::Duty::may_block,
         .start = [noted = std::move(noted)](reconcile::PodStatusKeeper& keeper) { keeper.recover(noted); }},
        *api, clock,
        [writes = intent_writer.get()](reconcile::IntentChange change) { writes->write(std::move(change)); },
        reconcile::PodStatusOptions{.node = node, .dry_run = config.agent.dry_run, .counters = pod_status_counters},
        tell);
    if (!made) {
        return tl::unexpected(made.error());
    }
    pod_statuses = std::move(*made);
    pod_statuses->tell([statuses = pod_statuses.get()](reconcile::PodStatusKeeper& keeper) {
        keeper.connect([statuses] { statuses->tell([](auto& woken) { woken.take_answers(); }); });
    });
    return {};
}

void Wiring::Parts::note_intent(const DesiredPodStatus& desired) const {
    if (intents && !intents->note(desired, clock.wall())) {
        sys::log::warn(
            "cannot record the eviction, the intents file is full: a restart of evictd before the API server answers "
            "would lose it");
    }
}

}  // namespace evictd::app
