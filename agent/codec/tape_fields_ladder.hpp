// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of the ladder: a part of tape_fields.hpp, which says how.
#pragma once

#include <tuple>

#include "evictd/model/ladder.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<LadderConfig> {
    static constexpr auto fields =
        std::tuple(field("reclaim", &LadderConfig::reclaim), field("squeeze", &LadderConfig::squeeze),
                   field("squeeze_for", &LadderConfig::squeeze_for), field("freeze", &LadderConfig::freeze),
                   field("freeze_for", &LadderConfig::freeze_for));
};
template <>
struct Described<Rung> {
    static constexpr auto fields =
        std::tuple(field("kind", &Rung::kind), field("pod", &Rung::pod), field("pod_name", &Rung::pod_name),
                   field("cgroup", &Rung::cgroup), field("bytes", &Rung::bytes), field("until", &Rung::until));
};
template <>
struct Described<RungOutcome> {
    static constexpr auto fields =
        std::tuple(field("rung", &RungOutcome::rung), field("status", &RungOutcome::status),
                   field("at", &RungOutcome::at), field("took", &RungOutcome::took),
                   field("bytes", &RungOutcome::bytes), field("cut_short", &RungOutcome::cut_short),
                   field("dry_run", &RungOutcome::dry_run), field("error", &RungOutcome::error));
};
template <>
struct Described<LadderState> {
    static constexpr auto fields =
        std::tuple(field("held", &LadderState::held), field("resting", &LadderState::resting),
                   field("near_at", &LadderState::near_at));
};

}  // namespace evictd::codec
