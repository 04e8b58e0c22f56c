// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/rehearsal.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "policy/decide.hpp"

namespace evictd::app {
namespace {

struct Nobody final : act::AfterKill {
    void follow(port::PodCgroupPtr /*victim*/, bool /*forks*/) override {}
    void drop_cache(port::PodCgroupPtr /*victim*/) override {}
    void finish_terminating(port::PodCgroupPtr /*pod*/) override {}
};

// Whatever is available is less than this.
Threshold always_met(Signal signal) {
    return {.signal = signal, .value = {Quantity::of(std::numeric_limits<std::int64_t>::max())}, .min_reclaim = {}};
}

}  // namespace

std::optional<PodUid> rehearse(const EvictionConfig& config, Observation observation, const sys::Clock& clock,
                               const act::Executor::Find& find) {
    EvictionConfig strict = config;
    strict.thresholds = {always_met(Signal::memory_available), always_met(Signal::allocatable_memory_available)};
    observation.outcomes.clear();
    const auto verdict = policy::decide(strict, observation, State{});
    Nobody nobody;
    act::Executor executor(clock, nobody, /*dry_run=*/true);
    const auto outcomes = executor.carry_out(verdict.decision.actions, clock.monotonic(), find);
    const auto walked = std::find_if(outcomes.begin(), outcomes.end(),
                                     [](const Outcome& outcome) { return outcome.status == OutcomeStatus::dry_run; });
    return walked == outcomes.end() ? std::nullopt : std::optional(walked->action.pod);
}

}  // namespace evictd::app
