// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of stalls and their thresholds: a part of tape_fields.hpp, which says how.
#pragma once

#include <tuple>

#include "evictd/model/decision.hpp"
#include "evictd/model/stall.hpp"
#include "evictd/model/state.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<StallThreshold> {
    static constexpr auto fields =
        std::tuple(field("resource", &StallThreshold::resource), field("kind", &StallThreshold::kind),
                   field("scope", &StallThreshold::scope), field("window", &StallThreshold::window),
                   field("share", &StallThreshold::share), field("grace_period", &StallThreshold::grace_period));
};
template <>
struct Described<PodStall> {
    static constexpr auto fields = std::tuple(field("some", &PodStall::some), field("reclaimed", &PodStall::reclaimed),
                                              field("reclaimed_for_node", &PodStall::reclaimed_for_node),
                                              field("full", &PodStall::full), field("read_at", &PodStall::read_at));
};
template <>
struct Described<NodeStall> {
    static constexpr auto fields = std::tuple(field("resource", &NodeStall::resource), field("some", &NodeStall::some),
                                              field("full", &NodeStall::full));
};
template <>
struct Described<MetStall> {
    static constexpr auto fields =
        std::tuple(field("threshold", &MetStall::threshold), field("lost", &MetStall::lost),
                   field("first_observed_at", &MetStall::first_observed_at), field("pod", &MetStall::pod));
};
template <>
struct Described<FirstStalled> {
    static constexpr auto fields = std::tuple(field("threshold", &FirstStalled::threshold),
                                              field("at", &FirstStalled::at), field("pod", &FirstStalled::pod));
};

}  // namespace evictd::codec
