// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent does with each kernel event: what it learns from it, whether it looks, and whose event it is.
#include <algorithm>
#include <optional>
#include <utility>

#include "app/agent.hpp"
#include "policy/ended_pods.hpp"

namespace evictd::app {

void Agent::on_kernel_events() {
    const auto detected_at = parts_.clock.monotonic();
    std::optional<KernelEvent> cause;
    parts_.events.drain([&](const KernelEvent& event) {
        const auto wanted = take(event);
        if (wanted == Wanted::nothing) {
            return;
        }
        name_owner(kernel_events_.emplace_back(event), Search::known_cgroups);
        if (wanted == Wanted::report) {
            return;
        }
        // The cause is the first that calls for a look, unless a threshold was crossed: that is what the look is for.
        const bool crossing = std::holds_alternative<WatermarkCrossed>(event.kind);
        if (!cause || (crossing && !std::holds_alternative<WatermarkCrossed>(cause->kind))) {
            cause = event;
        }
    });
    const bool begins = !root_ && follow_later();
    const bool approached = std::exchange(approached_, false);
    if (begins) {  // no line is watched before the first look at it
        tick(Cause{.kind = CauseKind::pods_changed, .event = {}, .detected_at = detected_at});
    } else if (cause && !put_off(*cause, detected_at)) {
        tick(Cause{.kind = CauseKind::kernel_event, .event = std::move(cause), .detected_at = detected_at});
    } else if (approached && !cause) {
        on_approach();
    }
}

// The cgroup of a pod that was ended: what it does now may end it again.
bool Agent::is_watched(CgroupId cgroup) const {
    const auto uid = state_.ended.empty() ? std::nullopt : table_.uid_of(cgroup);
    return uid && std::any_of(state_.ended.begin(), state_.ended.end(), [&](const EndedPod& ended) {
               return ended.desired.pod == *uid && policy::is_watched(ended);
           });
}

// A pod arrives while a condition holds: the policy follows it from here on.
bool Agent::may_be_refused(const CgroupLife& life) const {
    return options_.eviction.admission && life.change == CgroupChange::made && !state_.conditions.empty() &&
           table_.uid_of(life.cgroup).has_value();
}

// Notes what an event says. What is reported is reported with the next look: no more than the ring buffer holds, and
// one a minute for a pod of what calls for no look.
Agent::Wanted Agent::take(const KernelEvent& event) {
    if (const auto* crossed = std::get_if<WatermarkCrossed>(&event.kind)) {
        const auto crossing = watcher_.note(*crossed);
        approached_ = approached_ || crossing == reconcile::Crossing::approach;
        return crossing == reconcile::Crossing::line ? Wanted::look : Wanted::nothing;
    }
    if (const auto* life = std::get_if<CgroupLife>(&event.kind)) {
        const bool emptied = life->change == CgroupChange::emptied || life->change == CgroupChange::removed;
        if (root_ && life->change == CgroupChange::removed && life->cgroup == root_->id) {
            lose_root();
            return Wanted::look;
        }
        table_.apply(*life, event.time, parts_.cgroups);
        if (life->change == CgroupChange::made && parts_.disks.want_names) {
            parts_.disks.want_names();
        }
        if (!parts_.cgroups.complete()) {
            expect_listing();
        }
        expect_scores(*life);
        const bool populates = life->change == CgroupChange::populated;
        return (pressure_ && emptied) || ((emptied || populates) && is_watched(life->cgroup)) || may_be_refused(*life)
                   ? Wanted::look
                   : Wanted::nothing;
    }
    if (const auto* changed = std::get_if<OomScoreChanged>(&event.kind)) {
        check_scores(*changed);
        return Wanted::nothing;
    }
    if (std::holds_alternative<EventsLost>(event.kind)) {
        forget_removed_root();  // what was lost may have been news of it, or of a pod's
        list_cgroups();
        score_reports_lost_ = true;
        return Wanted::look;
    }
    const auto calls_for_look = []<class Kind>(const Kind& kind) {
        if constexpr (requires { kind.calls_for_look(); }) {
            return kind.calls_for_look();
        }
        return true;
    };
    return std::visit(calls_for_look, event.kind) ? Wanted::look : Wanted::report;
}

// The kernel program knows pods by the map of the last look; newer pods are found by their cgroup.
template <class Kind>
PodUid Agent::owner_of(const Kind& kind, Search search) const {
    auto owner = table_.uid_of(kind.cgroup);
    if constexpr (requires { kind.pod_cgroup; }) {
        owner = table_.uid_of(kind.pod_cgroup);
        if (!owner && search == Search::all_cgroups) {
            owner = parts_.observer.owner_of(kind.cgroup, table_);
        }
    }
    return owner.value_or(PodUid{});
}

// The kernel names cgroups; people know pods and containers. Every kind of event that has a `pod` gets it here, and its
// `container` if it has one. Both may be gone at the next look, and neither may be known before it.
void Agent::name_owner(KernelEvent& event, Search search) const {
    const auto name = [&]<class Kind>(Kind& kind) {
        if constexpr (requires { kind.pod; }) {
            if (kind.pod.value.empty()) {
                kind.pod = owner_of(kind, search);
            }
        }
        if constexpr (requires { kind.container_cgroup, kind.container; }) {
            if (kind.container.empty() && !kind.container_cgroup.empty()) {
                kind.container = container_of(kind.pod, kind.container_cgroup);
            }
        }
    };
    std::visit(name, event.kind);
}

// What a source says of the pod holds. Manifests know no IDs, after which the runtime names cgroups.
std::string Agent::container_of(const PodUid& uid, const std::string& cgroup_name) const {
    const auto pod = table_.pod(uid);
    if (const auto* container = pod ? container_in(*pod, cgroup_name) : nullptr) {
        return container->name;
    }
    const auto names = parts_.disks.names ? parts_.disks.names() : nullptr;
    const auto* named = named_pod(names.get(), uid);
    auto name = named != nullptr ? named_container(*named, cgroup_name) : std::string();
    if (name.empty() && parts_.disks.want_names) {
        parts_.disks.want_names();  // it was made after the last list: its next event has a name
    }
    return name;
}

}  // namespace evictd::app
