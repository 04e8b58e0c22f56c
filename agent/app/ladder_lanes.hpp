// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The ladder before the kill in threads of its own: the kill path only posts to them. Two, because a thaw must not wait
// for a reclaim.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/record.hpp"
#include "reconcile/reclaimer.hpp"
#include "reconcile/rung_keeper.hpp"
#include "sys/lane.hpp"

namespace evictd::app {

struct LadderNeeds {
    const port::PodControls& controls;
    const sys::Clock& clock;
    reconcile::TellRung tell;  // any thread
};

class LadderLanes final : public reconcile::RungOrders {
public:
    // What `needs` refers to must outlive it.
    static Result<std::unique_ptr<LadderLanes>> make(const LadderNeeds& needs, const Config& config);
    ~LadderLanes() override;  // puts back whatever is held
    LadderLanes(const LadderLanes&) = delete;
    LadderLanes& operator=(const LadderLanes&) = delete;

    void want(std::vector<reconcile::WantedRung> wanted) override;
    // What an agent that was killed left.
    void recover();

private:
    LadderLanes(const LadderNeeds& needs, const Config& config);
    void hold(const std::vector<reconcile::WantedRung>& wanted);
    void arm();
    void reclaim_on();

    reconcile::RungKeeper keeper_;    // the first lane's alone
    reconcile::Reclaimer reclaimer_;  // the second's
    sys::Timer timer_;
    std::unique_ptr<sys::Lane> rungs_;  // last: their threads must be gone first
    std::unique_ptr<sys::Lane> reclaim_;
};

}  // namespace evictd::app
