// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of what the API server is to show of a pod: a part of tape_fields.hpp, which says how.
#pragma once

#include "evictd/model/ended_pod.hpp"
#include "evictd/model/node_view.hpp"
#include "evictd/model/pod_status.hpp"
#include "evictd/model/removal.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<DesiredPodStatus> {
    static constexpr auto fields =
        described(field<&DesiredPodStatus::pod>("pod"), field<&DesiredPodStatus::name_space>("namespace"),
                  field<&DesiredPodStatus::name>("name"), field<&DesiredPodStatus::end>("end"),
                  field<&DesiredPodStatus::reason>("reason"), field<&DesiredPodStatus::message>("message"),
                  field<&DesiredPodStatus::disruption_target>("disruption_target"),
                  field<&DesiredPodStatus::generation>("generation"), field<&DesiredPodStatus::given_up>("given_up"),
                  field<&DesiredPodStatus::grace_period>("grace_period"), field<&DesiredPodStatus::attempt>("attempt"),
                  field<&DesiredPodStatus::decided_at>("decided_at"),
                  field<&DesiredPodStatus::detected_at>("detected_at"), field<&DesiredPodStatus::can_wait>("can_wait"));
};
template <>
struct Described<PodStatusOutcome> {
    static constexpr auto fields =
        described(field<&PodStatusOutcome::pod>("pod"), field<&PodStatusOutcome::attempt>("attempt"),
                  field<&PodStatusOutcome::end>("end"), field<&PodStatusOutcome::result>("result"),
                  field<&PodStatusOutcome::sent_at>("sent_at"), field<&PodStatusOutcome::answered_at>("answered_at"),
                  field<&PodStatusOutcome::retry_after>("retry_after"), field<&PodStatusOutcome::error>("error"));
};
template <>
struct Described<EndedPod> {
    static constexpr auto fields =
        described(field<&EndedPod::desired>("desired"), field<&EndedPod::stage>("stage"),
                  field<&EndedPod::cgroup>("cgroup"), field<&EndedPod::begun_at>("begun_at"),
                  field<&EndedPod::killed_at>("killed_at"), field<&EndedPod::answered_at>("answered_at"),
                  field<&EndedPod::answered>("answered"), field<&EndedPod::accepted>("accepted"),
                  field<&EndedPod::undelivered>("undelivered"), field<&EndedPod::emptied>("emptied"),
                  field<&EndedPod::seen_ended>("seen_ended"), field<&EndedPod::current_since>("current_since"),
                  field<&EndedPod::dry_run>("dry_run"), field<&EndedPod::rejection>("rejection"),
                  field<&EndedPod::restarts>("restarts"), field<&EndedPod::corrections>("corrections"),
                  field<&EndedPod::act_at>("act_at"), field<&EndedPod::back_off>("back_off"));
};

template <>
struct Described<TaintEviction> {
    static constexpr auto fields =
        described(field<&TaintEviction::pod>("pod"), field<&TaintEviction::pod_name>("pod_name"),
                  field<&TaintEviction::created_at>("created_at"), field<&TaintEviction::due>("due"));
};
template <>
struct Described<Removal> {
    static constexpr auto fields =
        described(field<&Removal::kind>("kind"), field<&Removal::desired>("desired"), field<&Removal::why>("why"),
                  field<&Removal::begun_at>("begun_at"), field<&Removal::answered>("answered"),
                  field<&Removal::again_at>("again_at"), field<&Removal::error>("error"));
};
template <>
struct Described<Taint> {
    static constexpr auto fields =
        described(field<&Taint::key>("key"), field<&Taint::value>("value"), field<&Taint::effect>("effect"));
};
template <>
struct Described<LogindView> {
    static constexpr auto fields =
        described(field<&LogindView::shuts_down>("shuts_down"), field<&LogindView::said_at>("said_at"),
                  field<&LogindView::current>("current"));
};
template <>
struct Described<NodeView> {
    static constexpr auto fields =
        described(field<&NodeView::taints>("taints"), field<&NodeView::shutting_down>("shutting_down"),
                  field<&NodeView::heard_at>("heard_at"), field<&NodeView::current>("current"));
};

}  // namespace evictd::codec
