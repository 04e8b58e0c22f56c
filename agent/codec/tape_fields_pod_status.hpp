// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of what the API server is to show of a pod: a part of tape_fields.hpp, which says how.
#pragma once

#include <tuple>

#include "evictd/model/ended_pod.hpp"
#include "evictd/model/node_view.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/removal.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<DesiredPodStatus> {
    static constexpr auto fields = std::tuple(
        field("pod", &DesiredPodStatus::pod), field("namespace", &DesiredPodStatus::name_space),
        field("name", &DesiredPodStatus::name), field("end", &DesiredPodStatus::end),
        field("reason", &DesiredPodStatus::reason), field("message", &DesiredPodStatus::message),
        field("disruption_target", &DesiredPodStatus::disruption_target),
        field("generation", &DesiredPodStatus::generation), field("given_up", &DesiredPodStatus::given_up),
        field("grace_period", &DesiredPodStatus::grace_period), field("attempt", &DesiredPodStatus::attempt),
        field("decided_at", &DesiredPodStatus::decided_at), field("detected_at", &DesiredPodStatus::detected_at),
        field("can_wait", &DesiredPodStatus::can_wait));
};
template <>
struct Described<PodStatusOutcome> {
    static constexpr auto fields =
        std::tuple(field("pod", &PodStatusOutcome::pod), field("attempt", &PodStatusOutcome::attempt),
                   field("end", &PodStatusOutcome::end), field("result", &PodStatusOutcome::result),
                   field("sent_at", &PodStatusOutcome::sent_at), field("answered_at", &PodStatusOutcome::answered_at),
                   field("retry_after", &PodStatusOutcome::retry_after), field("error", &PodStatusOutcome::error));
};
template <>
struct Described<EndedPod> {
    static constexpr auto fields =
        std::tuple(field("desired", &EndedPod::desired), field("stage", &EndedPod::stage),
                   field("cgroup", &EndedPod::cgroup), field("begun_at", &EndedPod::begun_at),
                   field("killed_at", &EndedPod::killed_at), field("answered_at", &EndedPod::answered_at),
                   field("answered", &EndedPod::answered), field("accepted", &EndedPod::accepted),
                   field("undelivered", &EndedPod::undelivered), field("emptied", &EndedPod::emptied),
                   field("seen_ended", &EndedPod::seen_ended), field("awaited_long", &EndedPod::awaited_long),
                   field("dry_run", &EndedPod::dry_run), field("rejection", &EndedPod::rejection),
                   field("restarts", &EndedPod::restarts), field("corrections", &EndedPod::corrections),
                   field("act_at", &EndedPod::act_at), field("back_off", &EndedPod::back_off));
};

template <>
struct Described<TaintEviction> {
    static constexpr auto fields =
        std::tuple(field("pod", &TaintEviction::pod), field("pod_name", &TaintEviction::pod_name),
                   field("created_at", &TaintEviction::created_at), field("due", &TaintEviction::due));
};
template <>
struct Described<Removal> {
    static constexpr auto fields =
        std::tuple(field("kind", &Removal::kind), field("desired", &Removal::desired), field("why", &Removal::why),
                   field("begun_at", &Removal::begun_at), field("answered", &Removal::answered),
                   field("again_at", &Removal::again_at), field("error", &Removal::error));
};
template <>
struct Described<Taint> {
    static constexpr auto fields =
        std::tuple(field("key", &Taint::key), field("value", &Taint::value), field("effect", &Taint::effect));
};
template <>
struct Described<LogindView> {
    static constexpr auto fields =
        std::tuple(field("shuts_down", &LogindView::shuts_down), field("said_at", &LogindView::said_at),
                   field("current", &LogindView::current));
};
template <>
struct Described<NodeView> {
    static constexpr auto fields =
        std::tuple(field("taints", &NodeView::taints), field("shutting_down", &NodeView::shutting_down),
                   field("heard_at", &NodeView::heard_at), field("current", &NodeView::current));
};

}  // namespace evictd::codec
