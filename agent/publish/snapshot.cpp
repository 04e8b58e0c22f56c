// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The last of everything. The document itself is codec's.
#include "publish/snapshot.hpp"

#include <utility>

#include "codec/event.hpp"
#include "sys/proof_of_life.hpp"

namespace evictd::publish {
namespace {

// A screenful. The event log holds the rest.
constexpr std::size_t evictions_kept = 20;

}  // namespace

Snapshot::Snapshot(codec::AgentStatus agent, RankPods rank, LossCounters losses, ReadSockets sockets)
    : agent_(std::move(agent)), rank_(std::move(rank)), losses_(std::move(losses)), sockets_(std::move(sockets)) {}

void Snapshot::publish(const RecordPtr& record) {
    const auto* tick = std::get_if<Tick>(record.get());
    if (tick == nullptr) return;
    last_ = record;
    for (const auto& event : tick->kernel_events) {
        if (const auto* lost = std::get_if<EventsLost>(&event.kind))
            lost_["kernel events: " + lost->cause] += lost->count;
    }
    for (const auto& victim : tick->decision.finished) {
        const auto ended = victim.emptied_at != MonotonicTime{} ? victim.emptied_at : tick->observation.at;
        evictions_.push_back({codec::wall_time(tick->observation, ended), victim, tick->dry_run});
    }
    if (evictions_.size() > evictions_kept) {
        evictions_.erase(evictions_.begin(), evictions_.end() - static_cast<std::ptrdiff_t>(evictions_kept));
    }
}

std::string Snapshot::status() const {
    auto lost = lost_;
    if (losses_) {
        for (const auto& [cause, count] : losses_()) lost[cause] += count;
    }
    const auto agent = this->agent();
    const Tick* last = tick();
    const auto order = last != nullptr ? this->order(*last) : codec::VictimOrder{};
    const Result<SocketsReading> sockets = sockets_ ? sockets_() : SocketsReading{};
    return codec::status_json({agent, last, order, evictions_, lost, sockets.value_or(SocketsReading{})});
}

Result<std::string> Snapshot::rank(Signal signal) const {
    const Tick* last = tick();
    if (last == nullptr)
        return fail(ErrorKind::failed, "rank", "the agent has not looked at the node yet", "try again");
    if (!rank_) return codec::rank_json(agent(), *last, {signal, last->decision.ranking, {}});
    const auto order = rank_(*last, signal);
    if (!order) return tl::unexpected(order.error());
    return codec::rank_json(agent(), *last, *order);
}

void Snapshot::set_agent(codec::AgentStatus agent) {
    const std::scoped_lock lock(mutex_);
    agent_ = std::move(agent);
}

const Tick* Snapshot::tick() const { return last_ ? std::get_if<Tick>(last_.get()) : nullptr; }

// The order the decision was made by: for the first met threshold's signal, else memory.available.
codec::VictimOrder Snapshot::order(const Tick& tick) const {
    const auto& met = tick.decision.thresholds_met;
    if (met.empty() && !tick.decision.stalls_met.empty()) {
        return {Signal::memory_available, tick.decision.ranking, {}};  // by who causes the stall
    }
    const Signal signal = tick.decision.ranked_by;
    if (rank_) {
        if (auto order = rank_(tick, signal)) return std::move(*order);
    }
    return {signal, tick.decision.ranking, {}};
}

codec::AgentStatus Snapshot::agent() const {
    codec::AgentStatus agent;
    {
        const std::scoped_lock lock(mutex_);
        agent = agent_;
    }
    // The same proof as /healthz and the service manager's watchdog have.
    if (auto dead = sys::dead_ones(sys::ProofOfLife::of_this_program().check()); !dead.empty())
        agent.sources.push_back({.hook = "threads", .chosen = {}, .fallback = true, .detail = std::move(dead)});
    return agent;
}

}  // namespace evictd::publish
