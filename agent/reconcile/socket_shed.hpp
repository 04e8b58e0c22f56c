// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps pods from new sockets as it was decided, no longer than that, and reports what changed. It never chooses a pod.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/record.hpp"
#include "evictd/port/sockets.hpp"
#include "sys/clock.hpp"

namespace evictd::reconcile {

class SocketShed {
public:
    // Both outlive it. `sockets` null: they cannot be refused on this host, and every request is reported as failed. A
    // dry run refuses no socket and reports what it would refuse.
    SocketShed(const sys::Clock& clock, port::Sockets* sockets, bool dry_run);

    // After every look, also where nothing changed: what is not said anew lapses within `refusal_holds`. Those that are
    // wanted and were not, and those that were and are not any more, one edge each; of a failure its beginning only.
    [[nodiscard]] std::vector<ShedEdge> reconcile(std::span<const ShedPod> wanted);

    // An agent that hangs keeps no pod from sockets for longer: twenty times the longest time between two looks while a
    // threshold is met. Half of it would lapse on a machine that is emulated or swaps.
    static constexpr Duration refusal_holds = std::chrono::seconds(2);

private:
    struct Held {
        ShedPod pod;
        std::int64_t refused_before = 0;
        bool failed = false;
    };
    Status refuse(std::span<const ShedPod> wanted);
    ShedEdge begin(const ShedPod& pod, const Status& done);
    ShedEdge end(const Held& held);

    const sys::Clock& clock_;
    port::Sockets* sockets_;
    bool dry_run_;
    std::map<CgroupId, Held> held_;
};

}  // namespace evictd::reconcile
