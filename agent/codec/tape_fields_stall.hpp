// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of stalls and their thresholds: a part of tape_fields.hpp, which says how.
#pragma once

#include "evictd/model/decision.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/state.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<StallThreshold> {
    static constexpr auto fields =
        described(field<&StallThreshold::resource>("resource"), field<&StallThreshold::kind>("kind"),
                  field<&StallThreshold::scope>("scope"), field<&StallThreshold::window>("window"),
                  field<&StallThreshold::share>("share"), field<&StallThreshold::grace_period>("grace_period"));
};
template <>
struct Described<PodStall> {
    static constexpr auto fields = described(field<&PodStall::some>("some"), field<&PodStall::reclaimed>("reclaimed"),
                                             field<&PodStall::reclaimed_for_node>("reclaimed_for_node"),
                                             field<&PodStall::full>("full"), field<&PodStall::read_at>("read_at"));
};
template <>
struct Described<NodeStall> {
    static constexpr auto fields = described(field<&NodeStall::resource>("resource"), field<&NodeStall::some>("some"),
                                             field<&NodeStall::full>("full"));
};
template <>
struct Described<MetStall> {
    static constexpr auto fields =
        described(field<&MetStall::threshold>("threshold"), field<&MetStall::lost>("lost"),
                  field<&MetStall::first_observed_at>("first_observed_at"), field<&MetStall::pod>("pod"));
};
template <>
struct Described<FirstStalled> {
    static constexpr auto fields = described(field<&FirstStalled::threshold>("threshold"),
                                             field<&FirstStalled::at>("at"), field<&FirstStalled::pod>("pod"));
};

}  // namespace evictd::codec
