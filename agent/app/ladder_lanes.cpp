// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/ladder_lanes.hpp"

#include <tuple>
#include <utility>

#include "app/claims.hpp"
#include "sys/log.hpp"

namespace evictd::app {

LadderLanes::LadderLanes(const LadderNeeds& needs, const Config& config)
    : keeper_(needs.controls, needs.clock, {.dry_run = config.agent.dry_run, .memory_path = rungs_path(config.agent)},
              needs.tell),
      reclaimer_(needs.controls, needs.clock, config.agent.dry_run, needs.tell) {}

Result<std::unique_ptr<LadderLanes>> LadderLanes::make(const LadderNeeds& needs, const Config& config) {
    std::unique_ptr<LadderLanes> made(new LadderLanes(needs, config));
    using sys::Duty;
    for (const auto& [lane, name, duty] : {std::tuple{&LadderLanes::rungs_, "evictd-rungs", Duty::vital},
                                           std::tuple{&LadderLanes::reclaim_, "evictd-reclaim", Duty::may_block}}) {
        auto started = sys::Lane::make(name, sys::Loop::default_queue, sys::Lane::default_drain, duty);
        if (!started) {
            return tl::unexpected(started.error());
        }
        (*made).*lane = std::move(*started);
    }
    return made;
}

LadderLanes::~LadderLanes() {
    if (reclaim_) {
        reclaim_->close();
    }
    if (rungs_) {
        rungs_->post([this] { keeper_.release(); });
        rungs_->close();
    }
}

// A post that is dropped is counted by the lane; what it would have ended ends with its time.
void LadderLanes::want(std::vector<reconcile::WantedRung> wanted) {
    const auto shared = std::make_shared<const std::vector<reconcile::WantedRung>>(std::move(wanted));
    rungs_->post([this, shared] { hold(*shared); });
    reclaim_->post([this, shared] {
        reclaimer_.want(*shared);
        reclaim_on();
    });
}

// A piece at a time: what is wanted meanwhile gets its turn.
void LadderLanes::reclaim_on() {
    if (reclaimer_.step()) {
        reclaim_->post([this] { reclaim_on(); });
    }
}

void LadderLanes::hold(const std::vector<reconcile::WantedRung>& wanted) {
    keeper_.want(wanted);
    arm();
}

void LadderLanes::arm() {
    (void)rungs_->arm(timer_, keeper_.due(), [this] {
        keeper_.act_on_time();
        arm();
    });
}

void LadderLanes::recover() {
    rungs_->post([this] {
        const auto recovered = keeper_.recover();
        for (const auto& error : recovered.failed) {
            sys::log::error("what a killed evictd left is not put back: " + error.text());
        }
        for (const auto& done : recovered.done) {
            sys::log::warn("after a killed evictd: " + done);
        }
    });
}

}  // namespace evictd::app
