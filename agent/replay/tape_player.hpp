// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Decides over the looks of a tape again, with the live agent's own decide(). The state goes on by itself from look to
// look, as it did in the agent: that every decision comes out as it was is the proof that nothing else went into it.
#pragma once

#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/state.hpp"
#include "replay/tape_looks.hpp"

namespace evictd::replay {

struct PlayedLook {
    Decision decision;
    std::string line;      // the decision as it is written on a tape
    std::string mismatch;  // empty: everything came out as recorded
};

class TapePlayer {
public:
    // Looks come in their order.
    [[nodiscard]] PlayedLook play(const codec::TapeLook& look, bool follows);

private:
    EvictionConfig config_;
    State state_;
};

}  // namespace evictd::replay
