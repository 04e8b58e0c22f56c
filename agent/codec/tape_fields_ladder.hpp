// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a tape holds of the ladder: a part of tape_fields.hpp, which says how.
#pragma once

#include "evictd/model/ladder.hpp"
#include "tape_field.hpp"

namespace evictd::codec {

template <>
struct Described<LadderConfig> {
    static constexpr auto fields =
        described(field<&LadderConfig::reclaim>("reclaim"), field<&LadderConfig::squeeze>("squeeze"),
                  field<&LadderConfig::squeeze_for>("squeeze_for"), field<&LadderConfig::freeze>("freeze"),
                  field<&LadderConfig::freeze_for>("freeze_for"));
};
template <>
struct Described<Rung> {
    static constexpr auto fields =
        described(field<&Rung::kind>("kind"), field<&Rung::pod>("pod"), field<&Rung::pod_name>("pod_name"),
                  field<&Rung::cgroup>("cgroup"), field<&Rung::bytes>("bytes"), field<&Rung::until>("until"));
};
template <>
struct Described<RungOutcome> {
    static constexpr auto fields =
        described(field<&RungOutcome::rung>("rung"), field<&RungOutcome::status>("status"),
                  field<&RungOutcome::at>("at"), field<&RungOutcome::took>("took"), field<&RungOutcome::bytes>("bytes"),
                  field<&RungOutcome::cut_short>("cut_short"), field<&RungOutcome::dry_run>("dry_run"),
                  field<&RungOutcome::error>("error"));
};
template <>
struct Described<LadderState> {
    static constexpr auto fields = described(field<&LadderState::held>("held"), field<&LadderState::resting>("resting"),
                                             field<&LadderState::near_at>("near_at"));
};

}  // namespace evictd::codec
