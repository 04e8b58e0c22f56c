// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One victim that gets SIGKILL in rounds until the kernel says that no process is left. What the rounds learn of it,
// and how a round strikes; when the next one is due is the Reaper's.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "act/signals.hpp"
#include "evictd/port/cgroups.hpp"
#include "sys/clock.hpp"

namespace evictd::act {

// Between two rounds: a killed process needs about 1 ms to go. A longer pause would let a fork bomb grow back, a
// shorter one only burns the CPU that the dying need.
inline constexpr Duration first_pause = std::chrono::milliseconds(1);
// What a walk may take at first: `most_frozen_walks` of them take 0.4 s, and a real-time thread may work for 1 s.
inline constexpr Duration first_walk_limit = std::chrono::milliseconds(50);
// The longest walk is some 100,000 cgroups.
inline constexpr Duration longest_walk_limit = std::chrono::seconds(5);

class Pursuit {
public:
    Pursuit(port::PodCgroupPtr pod, MonotonicTime now, bool forks)
        : victim(std::move(pod)), since(now), evades(forks) {}

    using AfterBatch = std::function<void(std::vector<HeldProcess>&)>;  // as Strike::after_batch

    // A round: under the freezer where that is needed. `rungs_path`: as Reaper::make().
    [[nodiscard]] Struck strike(const sys::Clock& clock, const AfterBatch& after,
                                const std::optional<std::string>& rungs_path);
    // Whether the next round is under the freezer.
    [[nodiscard]] bool freezes_next() const { return evades && uses_freezer(); }
    [[nodiscard]] bool uses_freezer() const { return !victim->can_kill() && victim->can_freeze(); }
    void learn_from(const Struck& struck);
    [[nodiscard]] bool is_urgent(MonotonicTime now) const;

    port::PodCgroupPtr victim;
    MonotonicTime since;
    MonotonicTime due;  // the next round
    Duration pause = first_pause;
    std::optional<std::vector<pid_t>> seen{};  // in the last round
    bool evades;                               // it may fork, or move its processes
    bool appeared = false;                     // in some round processes were listed that were not before
    bool proved = false;                       // it is empty: no process was listed while it was frozen
    bool warned = false;
    int rounds = 0;
    int freezes = 0;

private:
    [[nodiscard]] Struck strike_once(const sys::Clock& clock, const AfterBatch& after) const;
    [[nodiscard]] Struck strike_frozen(const sys::Clock& clock, const AfterBatch& after,
                                       const std::optional<std::string>& rungs_path);

    Duration walk_limit_ = first_walk_limit;
    bool told_trouble_ = false;  // of freezing
    int empty_rounds_ = 0;       // in succession
};

}  // namespace evictd::act
