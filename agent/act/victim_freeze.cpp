// SPDX-License-Identifier: Apache-2.0
#include "act/victim_freeze.hpp"

#include "act/held_rungs.hpp"
#include "sys/log.hpp"

namespace evictd::act {

VictimFreeze::VictimFreeze(const port::PodCgroup& victim, const std::optional<std::string>& rungs_path)
    : victim_(victim), rungs_path_(rungs_path) {
    if (!rungs_path_) {
        trouble_ = "not frozen, because another evictd has the ledger that it would have to be written to";
        return;
    }
    if (!rungs_path_->empty()) {
        const HeldRung held{RungKind::freeze, {victim.path(), victim.id()}, {}, {}};
        if (auto written = remember_held(victims_path(*rungs_path_), {held}); !written) {
            trouble_ = "not frozen, because that could not be written down: " + written.error().text();
            return;
        }
    }
    begun_ = true;  // also if it fails, which may freeze a part
    if (auto frozen = victim.freeze(); !frozen) {
        trouble_ = "could not be frozen: " + frozen.error().text();
    }
}

// Also what somebody else froze: a victim has to die. What could not be thawed stays written down.
VictimFreeze::~VictimFreeze() {
    if (!begun_) {
        return;
    }
    const auto thawed = victim_.thaw();
    if (!thawed && thawed.error().kind != ErrorKind::vanished) {
        sys::log::error(victim_.path() + ": could not be thawed: " + thawed.error().text());
    } else if (!rungs_path_->empty()) {
        (void)remember_held(victims_path(*rungs_path_), {});
    }
}

}  // namespace evictd::act
