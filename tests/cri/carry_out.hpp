// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#pragma once

#include <chrono>
#include <utility>
#include <vector>

#include "evictd/model/garbage.hpp"
#include "reconcile/garbage_keeper.hpp"
#include "runtime_fixture.hpp"
#include "sys/clock.hpp"

namespace evictd::cri_test {

// One pass of a keeper of garbage to its end, and what it told. `is_gone`, `remains`, `cgroups`: of GarbageParts.
inline ReclaimOutcome carry_out(std::vector<Garbage> removals, port::ContainerRuntime& runtime, port::PodLogs& logs,
                                const sys::Clock& clock, std::uint64_t pass,
                                decltype(reconcile::GarbageParts::is_gone) is_gone = {},
                                port::PodRemains* remains = nullptr, port::CgroupRemains* cgroups = nullptr) {
    DesiredGarbage desired;
    desired.pass = pass;
    desired.removals = GarbageList(std::move(removals));
    desired.deadline = clock.monotonic() + std::chrono::minutes(1);
    ReclaimOutcome told;
    reconcile::GarbageParts parts;
    parts.look = [] { return RuntimePtr(); };
    parts.available = [] { return std::optional<Bytes>(); };
    parts.tell_inventory = [](const RuntimePtr& /*inventory*/) { return true; };
    parts.tell = [&](const ReclaimOutcome& outcome) {
        told = outcome;
        return true;
    };
    parts.is_gone = std::move(is_gone);
    parts.remains = remains;
    parts.cgroups = cgroups;
    reconcile::GarbageKeeper keeper(runtime, logs, clock, std::move(parts));
    keeper.reconcile(desired);
    while (keeper.due()) keeper.act_on_time();
    return told;
}

}  // namespace evictd::cri_test
