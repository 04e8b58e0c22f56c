// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/victim_freeze.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "reconcile/held_rungs.hpp"
#include "sys/log.hpp"

namespace evictd::act {
namespace {

reconcile::HeldRung rung_of(const port::PodCgroup& victim) {
    return {RungKind::freeze, {victim.path(), victim.id()}, {}, {}};
}

// What the file remembers of others: victims that could not be thawed. An error where it cannot be understood: it is
// put right by undo or by the next start, and must not be overwritten.
Result<std::vector<reconcile::HeldRung>> others_in(const std::string& path, const reconcile::HeldRung& own) {
    auto ledger = reconcile::remembered_held(path);
    if (!ledger) {
        return tl::unexpected(ledger.error());
    }
    if (!ledger->fault.empty()) {
        return fail(ErrorKind::invalid, path, ledger->fault);
    }
    std::erase(ledger->held, own);
    return std::move(ledger->held);
}

Status remember(const std::string& path, const reconcile::HeldRung& own) {
    auto held = others_in(path, own);
    if (!held) {
        return tl::unexpected(held.error());
    }
    held->push_back(own);
    return reconcile::remember_held(path, *held);
}

Status forget(const std::string& path, const reconcile::HeldRung& own) {
    const auto held = others_in(path, own);
    return held ? reconcile::remember_held(path, *held) : tl::unexpected(held.error());
}

}  // namespace

VictimFreeze::VictimFreeze(const port::PodCgroup& victim, const std::optional<std::string>& rungs_path)
    : victim_(victim), rungs_path_(rungs_path) {
    if (!rungs_path_) {
        trouble_ = "not frozen, because another evictd has the ledger that it would have to be written to";
        return;
    }
    if (!rungs_path_->empty()) {
        if (auto written = remember(reconcile::victims_path(*rungs_path_), rung_of(victim)); !written) {
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
        // Where it fails it stays written down: a pod that is thawed twice is none the worse.
        (void)forget(reconcile::victims_path(*rungs_path_), rung_of(victim_));
    }
}

}  // namespace evictd::act
