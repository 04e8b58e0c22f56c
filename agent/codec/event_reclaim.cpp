// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_reclaim.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evictd/model/names.hpp"
#include "evictd/model/text.hpp"
#include "sentence.hpp"

namespace evictd::codec {
namespace {

// A limit of the pod's own is not what a reclaim is for.
bool is_for_disk_threshold(const Eviction& eviction) {
    return !eviction.stall && traits(eviction.threshold.threshold.signal).condition == Condition::disk_pressure;
}

void add_orphans(const ReclaimOutcome& outcome, const Tick& tick, std::vector<Event>& events) {
    for (const Garbage& one : outcome.orphans) {
        const auto is_it = [&](const GarbageOutcome& other) { return other.kind == one.kind && other.id == one.id; };
        const auto done = std::find_if(outcome.removals.begin(), outcome.removals.end(), is_it);
        const bool is_gone = done != outcome.removals.end() && done->status == GarbageStatus::removed;
        const auto slash = one.orphan_of.find('/');
        Event event;
        event.time = tick.observation.wall;
        event.reason = Reason::orphan_removed;
        event.dry_run = !is_gone;
        event.message = std::string(is_gone ? "Removed " : "Not removed, only reported: ") +
                        std::string(name(one.kind)) + " " + printable(one.id) + " of pod " + printable(one.orphan_of) +
                        ": " + one.why + ", and the API server says that it is gone";
        event.pod = EventPod{one.orphan_of.substr(0, slash),
                             slash == std::string::npos ? std::string() : one.orphan_of.substr(slash + 1),
                             one.pod.value, std::nullopt, std::nullopt};
        events.push_back(std::move(event));
    }
}

// When a reclaim begins the runtime's lists may not be known, so its end says what was removed. Empty: nothing was.
std::string removed_sentence(const std::optional<ReclaimOutcome>& outcome) {
    std::vector<Garbage> removed;
    for (const GarbageOutcome& one : outcome ? outcome->removals : std::vector<GarbageOutcome>{}) {
        if (one.status == GarbageStatus::removed) removed.emplace_back().kind = one.kind;
    }
    return removed.empty() ? "" : ". Removed " + say_garbage(removed);
}

}  // namespace

// A reclaim that repeats one in vain has neither a begin nor an end here (policy/reclaim_news).
void add_reclaim(const Tick& tick, std::vector<Event>& events) {
    const auto& decision = tick.decision;
    const auto& observation = tick.observation;
    const auto& reclaimed = observation.reclaimed;
    const auto add = [&](Severity severity, Reason reason, MonotonicTime at) -> Event& {
        return events.emplace_back(new_event(tick, severity, reason, at));
    };
    if (reclaimed) add_orphans(*reclaimed, tick, events);  // also where another reclaim begins with it
    if (!decision.announced.empty()) {
        add(Severity::normal, Reason::reclaim_started, tick.decided_at).message =
            reclaim_sentence(decision.announced, decision.garbage.removals, tick.dry_run) + removed_sentence(reclaimed);
    }
    if (!decision.announced.empty() || !decision.reclaim.empty()) return;
    if (!reclaimed || !reclaimed->forced) return;  // a pass without pressure
    if (decision.reclaimed) {
        add(Severity::normal, Reason::reclaim_succeeded, observation.at).message =
            (decision.evict ? "What the node gave back was enough" : decision.why) + removed_sentence(reclaimed);
        return;
    }
    const std::string removed = removed_sentence(reclaimed);
    if (decision.outcome_repeated && removed.empty() && !decision.evict) return;
    Event& event = add(Severity::warning, Reason::reclaim_insufficient, observation.at);
    event.message = "What the node could give back was not enough";
    if (decision.evict && is_for_disk_threshold(*decision.evict)) event.message += ": a pod is evicted";
    event.message += removed;
    for (const auto& error : reclaimed->errors) event.error += (event.error.empty() ? "" : "; ") + error;
}

}  // namespace evictd::codec
