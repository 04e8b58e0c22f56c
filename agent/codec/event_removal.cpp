// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_removal.hpp"

#include <array>
#include <string>
#include <utility>

namespace evictd::codec {
namespace {

constexpr std::array<Reason, 3> reasons_of_removals{Reason::taint_eviction, Reason::deadline_exceeded,
                                                    Reason::pod_collected};

std::string message_of(const Removal& removal, bool fails, bool dry_run) {
    const std::string pod = "pod " + removal.desired.name_space + "/" + removal.desired.name;
    const bool is_deadline = removal.kind == RemovalKind::deadline;
    if (fails)
        return "Could not " + (is_deadline ? "mark " + pod + " Failed" : "delete " + pod) + " (" + removal.why + ")";
    if (dry_run)
        return "Dry run: would " + (is_deadline ? "mark " + pod + " Failed: " : "delete " + pod + ": ") + removal.why;
    return (is_deadline ? "Marking " + pod + " Failed: " : "Deleting " + pod + ": ") + removal.why;
}

}  // namespace

void add_removal(const Removal& removal, const Tick& tick, std::vector<Event>& events) {
    const auto& desired = removal.desired;
    const bool fails = removal.answered == desired.attempt && !removal.error.empty() && !tick.dry_run;
    if (!fails && removal.begun_at != tick.observation.at) return;
    Event event;
    event.time = tick.observation.wall;
    event.severity = fails ? Severity::warning : Severity::normal;
    event.reason = fails ? Reason::removal_failed : reasons_of_removals.at(static_cast<std::size_t>(removal.kind));
    event.dry_run = tick.dry_run;
    event.message = message_of(removal, fails, tick.dry_run);
    event.error = removal.error;
    event.pod = EventPod{desired.name_space, desired.name, desired.pod.value, std::nullopt, std::nullopt};
    events.push_back(std::move(event));
}

}  // namespace evictd::codec
