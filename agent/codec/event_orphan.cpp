// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_orphan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evictd/model/names.hpp"
#include "evictd/model/text.hpp"

namespace evictd::codec {

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

}  // namespace evictd::codec
