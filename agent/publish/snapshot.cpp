// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/snapshot.hpp"

#include <utility>

#include "codec/event.hpp"

namespace evictd::publish {
namespace {

// A screenful. The event log holds the rest.
constexpr std::size_t evictions_kept = 20;

}  // namespace

Snapshot::Snapshot(StatusBoard& board, LossCounters losses)
    : board_(board), losses_(std::move(losses)), evictions_(board.document()->evictions) {
    board_.publish([lost = all_lost()](StatusDocument& next) { next.lost = lost; });
}

void Snapshot::publish(const RecordPtr& record) {
    const auto* tick = std::get_if<Tick>(record.get());
    if (tick == nullptr) return;
    for (const auto& event : tick->kernel_events) {
        if (const auto* lost = std::get_if<EventsLost>(&event.kind))
            lost_["kernel events: " + lost->cause] += lost->count;
    }
    if (!tick->decision.finished.empty()) remember(*tick);
    board_.publish([&, lost = all_lost()](StatusDocument& next) {
        next.look = record;
        next.evictions = evictions_;
        next.lost = lost;
    });
}

void Snapshot::remember(const Tick& tick) {
    auto evictions = *evictions_;
    for (const auto& victim : tick.decision.finished) {
        const auto ended = victim.emptied_at != MonotonicTime{} ? victim.emptied_at : tick.observation.at;
        evictions.push_back({codec::wall_time(tick.observation, ended), victim, tick.dry_run});
    }
    if (evictions.size() > evictions_kept)
        evictions.erase(evictions.begin(), evictions.end() - static_cast<std::ptrdiff_t>(evictions_kept));
    evictions_ = std::make_shared<const std::vector<codec::PastEviction>>(std::move(evictions));
}

std::shared_ptr<const std::map<std::string, std::uint64_t>> Snapshot::all_lost() const {
    auto all = lost_;
    if (losses_) {
        for (const auto& [cause, count] : losses_()) all[cause] += count;
    }
    return std::make_shared<const std::map<std::string, std::uint64_t>>(std::move(all));
}

}  // namespace evictd::publish
