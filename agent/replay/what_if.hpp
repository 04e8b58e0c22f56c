// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What another configuration would have decided over a tape. Readings stay as they were recorded: after the first
// eviction that differs they are no longer what the node would have shown, but who was there, and what was done to
// whom, follows the other configuration.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codec/tape_json.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/state.hpp"

namespace evictd::replay {

struct WhatIfLook {
    Observation observation;  // as it would have been
    Decision decision;
};

class WhatIf {
public:
    explicit WhatIf(EvictionConfig config) : config_(std::move(config)) {}

    // Looks come in their order. `recorded` is what was decided over this one.
    [[nodiscard]] WhatIfLook play(const codec::TapeLook& look, const Decision& recorded);

private:
    [[nodiscard]] Observation adapt(const Observation& recorded) const;
    [[nodiscard]] std::vector<Outcome> outcomes(const Observation& recorded) const;
    void take_away(const Decision& recorded);

    EvictionConfig config_;
    State state_;
    bool differs_ = false;  // some decision was another: the recorded state is no longer ours
    Decision last_;         // what this configuration decided at the look before
    MonotonicTime last_at_;
    std::set<PodUid> evicted_as_recorded_;
    std::set<PodUid> gone_;  // evicted by this configuration alone
};

// What two decisions differ by: thresholds met, conditions, reclaim, and who is evicted, for what and how. Not the
// order of those who stay, nor the words.
[[nodiscard]] bool same_course(const Decision& a, const Decision& b);

}  // namespace evictd::replay
