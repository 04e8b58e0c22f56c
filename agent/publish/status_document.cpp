// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/status_document.hpp"

#include <mutex>
#include <utility>

#include "sys/clock.hpp"
#include "sys/proof_of_life.hpp"

namespace evictd::publish {
namespace {

// With what no look knows: the same proof as /healthz and the service manager's watchdog have.
codec::AgentStatus as_of_now(const AgentFacts& facts) {
    auto agent = facts.status;
    agent.as_of = sys::SystemClock().monotonic();
    if (facts.pod_source_states) agent.pod_source_states = facts.pod_source_states();
    if (auto dead = sys::dead_ones(sys::ProofOfLife::of_this_program().check()); !dead.empty())
        agent.sources.push_back({.hook = "threads", .chosen = {}, .fallback = true, .detail = std::move(dead)});
    return agent;
}

codec::VictimOrder explained(Signal signal, std::vector<RankedPod> ranking, const Tick& tick, Place place) {
    codec::VictimOrder order{.signal = signal, .ranking = std::move(ranking), .places = {}};
    if (place == nullptr) return order;
    order.places.reserve(order.ranking.size());
    for (const auto& ranked : order.ranking) order.places.push_back(place(signal, ranked, tick.observation));
    return order;
}

}  // namespace

std::string StatusDocument::status(SocketsReading sockets) const {
    const Tick* last = tick();
    codec::VictimOrder order;
    if (last != nullptr) {
        const auto& decided = last->decision;
        // While tasks stall the order is by who causes that, and no signal's words explain it.
        const bool by_stall = decided.thresholds_met.empty() && !decided.stalls_met.empty();
        order = explained(decided.ranked_by, decided.ranking, *last, by_stall ? nullptr : policy.place);
    }
    const auto now = as_of_now(*agent);
    return codec::status_json({now, last, order, *evictions, *lost, std::move(sockets)});
}

Result<std::string> StatusDocument::rank(Signal signal) const {
    const Tick* last = tick();
    if (last == nullptr) return fail(ErrorKind::failed, "rank", "no observation yet", "try again");
    const auto& decided = last->decision;
    const bool is_decided = signal == decided.ranked_by && decided.stalls_met.empty();
    if (!is_decided && policy.rank == nullptr)
        return fail(ErrorKind::failed, "rank", "no victim order for " + std::string(name(signal)));
    auto ranking = is_decided ? decided.ranking : policy.rank(agent->eviction, signal, last->observation, decided);
    return codec::rank_json(as_of_now(*agent), *last, explained(signal, std::move(ranking), *last, policy.place));
}

Result<std::string> StatusDocument::scale_down() const {
    const Tick* last = tick();
    if (last == nullptr) return fail(ErrorKind::failed, "rank", "no observation yet", "try again");
    if (policy.scale_down == nullptr) return fail(ErrorKind::failed, "rank", "no scale-down order");
    return codec::scale_down_json(as_of_now(*agent), *last, policy.scale_down(last->observation));
}

StatusBoard::StatusBoard(AgentFacts agent, PolicyView policy) {
    auto first = std::make_shared<StatusDocument>();
    first->policy = policy;
    first->agent = std::make_shared<const AgentFacts>(std::move(agent));
    document_ = std::move(first);
}

std::shared_ptr<const StatusDocument> StatusBoard::document() const {
    const std::scoped_lock lock(mutex_);
    return document_;
}

void StatusBoard::publish(const std::function<void(StatusDocument& next)>& change) {
    std::shared_ptr<const StatusDocument> last;  // outlives the lock: with it may go the last pointer to a Record
    const std::scoped_lock lock(mutex_);
    auto next = std::make_shared<StatusDocument>(*document_);
    change(*next);
    last = std::exchange(document_, std::move(next));
}

void StatusBoard::set_agent(AgentFacts agent) {
    auto facts = std::make_shared<const AgentFacts>(std::move(agent));
    publish([&](StatusDocument& next) { next.agent = std::move(facts); });
}

}  // namespace evictd::publish
