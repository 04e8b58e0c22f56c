// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "next_look.hpp"

#include <gtest/gtest.h>

#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

using Why = NextLookReason;

// What one look says of the next; `expect` compares it.
struct Next {
    Next() {
        observation.at = boot;
        observation.watching.stalls = true;
        set_available(1_GiB);
    }
    void set_available(Bytes available) {
        observation.readings[0] = Reading{{available.value}, {(2_GiB).value}, boot};
        decision.watch.lines = {{Signal::memory_available, 200_MiB}};
    }
    void expect(Duration soon, Why why, std::optional<Duration> latest = std::nullopt) const {
        const auto next = next_look(config, observation, decision, clock);
        EXPECT_EQ(next.at - boot, soon);
        EXPECT_EQ(name(next.why), name(why));
        EXPECT_EQ(next.latest - boot, latest.value_or(soon));
    }

    EvictionConfig config;
    Observation observation;
    Decision decision;
    std::optional<Clock> clock;
};

TEST(NextLook, IsThePeriodOfTheConfigurationWhereNothingCallsForAnEarlierOne) {
    Next next;
    next.expect(10s, Why::period);
    next.config.look_period = 500ms;
    next.expect(500ms, Why::period);
}

TEST(NextLook, IsAtTheNextClock) {
    Next next;
    next.clock = Clock{at(3s), Why::ladder};
    next.expect(3s, Why::ladder);
    next.clock = Clock{at(30s), Why::ladder};
    next.expect(10s, Why::period);
}

TEST(NextLook, ComesSoonWhileAThresholdIsMetOrPending) {
    for (const auto met : {&Decision::thresholds_met, &Decision::thresholds_pending}) {
        Next next;
        (next.decision.*met).emplace_back();
        next.expect(100ms, Why::pressure);
    }
    for (const auto met : {&Decision::stalls_met, &Decision::stalls_pending}) {
        Next next;
        (next.decision.*met).emplace_back();
        next.expect(100ms, Why::pressure);
    }
}

TEST(NextLook, ComesAtOnceWhereTheLookDoesNotFindAReportedCrossing) {
    Next next;
    next.observation.watching.crossed[0] = 200_MiB;
    next.expect(5ms, Why::disputed_crossing);
    next.observation.watching.counts_whole = true;
    next.expect(100ms, Why::disputed_crossing);
    next.observation.watching.counts_whole = false;
    next.set_available(200_MiB);
    next.expect(5ms, Why::disputed_crossing);
    next.set_available(199_MiB);
    next.expect(10s, Why::period);
}

TEST(NextLook, ComesSoonWhereTheSignalOfAReportedCrossingCouldNotBeRead) {
    Next next;
    next.observation.watching.crossed[0] = 200_MiB;
    next.observation.readings[0].reset();
    next.expect(100ms, Why::unread_signal);
}

TEST(NextLook, ComesForStallsThatTheKernelDoesNotWatch) {
    Next next;
    next.config.stalls = {{.share = 1'000}};
    next.expect(10s, Why::period);
    next.observation.watching.stalls = false;
    next.expect(250ms, Why::unreported_stalls);
}

TEST(NextLook, ComesWhenTheListingOrTheClaimIsRetried) {
    Next next;
    next.observation.watching.claim_again_at = at(2s);
    next.expect(2s, Why::claim);
    next.observation.watching.list_again_at = at(1s);
    next.expect(1s, Why::listing);
    next.observation.watching.list_again_at = at(-1s);
    next.expect(0s, Why::listing);
}

TEST(NextLook, ComesAtOnceAfterTheKernelWasAskedToReportExits) {
    Next next;
    next.decision.watch.exits = true;
    next.expect(10s, Why::period);  // a line is near, and there is no victim
    next.decision.in_flight.emplace_back();
    next.expect(5ms, Why::exits_requested);
    next.observation.watching.exits = true;
    next.expect(10s, Why::period);
}

struct Timed : Next {
    Timed() { observation.watching.timed = TimedLooks{10ms, 1s, 2_GiB}; }
};

TEST(TimedLook, TheNearerTheThresholdTheSooner) {
    Duration last{0};
    for (const Bytes distance : {0_B, 1_MiB, 100_MiB, 1_GiB, 64_GiB}) {
        Timed next;
        next.set_available(200_MiB + distance);
        const auto soon = next_look(next.config, next.observation, next.decision, {}).at - boot;
        EXPECT_GE(soon, 10ms);
        EXPECT_LE(soon, 1s);
        EXPECT_GE(soon, last);
        last = soon;
    }
    EXPECT_EQ(last, 1s);
    Timed next;
    next.set_available(300_MiB);
    next.expect(48ms, Why::unreported_crossings, 10s);
    next.set_available(100_MiB);
    next.expect(10ms, Why::unreported_crossings, 10s);
}

TEST(TimedLook, WithAVictimItIsTheShortest) {
    Timed next;
    next.expect(402ms, Why::unreported_crossings, 10s);
    next.decision.in_flight.emplace_back();
    next.expect(10ms, Why::unreported_crossings, 10s);
}

TEST(TimedLook, WithoutLinesToWatchTheThresholdsCount) {
    Timed next;
    next.decision.watch.lines.reset();
    next.config.thresholds = {hard(200_MiB)};
    next.expect(402ms, Why::unreported_crossings, 10s);
    next.config.thresholds.clear();
    next.expect(10ms, Why::unreported_crossings, 10s);
}

TEST(TimedLook, NeedsNoPressureOrDispute) {
    Timed next;
    next.observation.watching.crossed[0] = 200_MiB;
    next.decision.thresholds_met.emplace_back();
    next.expect(402ms, Why::unreported_crossings, 10s);
}

// What may be put off to save CPU time is what the clocks and the distance call for.
TEST(TimedLook, IsPutOffNoLongerThanUntilWhatCannotWait) {
    Timed next;
    next.clock = Clock{at(3ms), Why::retry};
    next.expect(3ms, Why::retry, 10s);
    next.config.stalls = {{.share = 1'000}};
    next.observation.watching.stalls = false;
    next.expect(3ms, Why::retry, 250ms);
    next.observation.watching.list_again_at = at(1ms);
    next.expect(1ms, Why::listing);
}

TEST(TimedLook, FiguresOfAForgedTapeDoNoHarm) {
    Timed next;
    next.observation.watching.timed = TimedLooks{1s, 10ms, 0_B};
    next.expect(1s, Why::unreported_crossings, 10s);
    next.observation.watching.timed->growth_per_second = 1_GiB;
    next.expect(1s, Why::unreported_crossings, 10s);
    next.observation.watching.timed = TimedLooks{10ms, 5s, 1000_B};
    next.set_available(Bytes{std::int64_t{1} << 62U});
    next.expect(5s, Why::unreported_crossings, 10s);
}

// Why decide() wants another look, for each clock that it has.
struct Clocks : Node {
    void expect(const Decision& decision, Duration since, Why why) const {
        EXPECT_EQ(decision.next_look.at, at(since));
        EXPECT_EQ(name(decision.next_look.why), name(why));
        EXPECT_EQ(decision.look_again_at, at(since));
    }
    Clocks() {
        config.look_period = 1h;
        pods = {pod({.name = "hog", .working_set = 800_MiB, .grace = 20s, .cgroup = 1})};
    }
};

TEST(NextClock, OfASoftThreshold) {
    Clocks node;
    node.config.thresholds = {soft(1_GiB, 50ms)};
    node.expect(node.set(900_MiB).look(0s), 50ms, Why::threshold_grace);
}

TEST(NextClock, OfACondition) {
    Clocks node;
    node.config.thresholds = {soft(1_GiB, 30s)};
    (void)node.set(900_MiB).look(0s);
    node.expect(node.set(2_GiB).look(1s), 5min, Why::transition_period);
}

TEST(NextClock, OfTrends) {
    Clocks node;
    node.config.time_to_exhaustion = 10s;
    node.expect(node.set(2_GiB).look(0s), 500ms, Why::trend);
}

Clock clock_of(const State& state, const Decision& decision = {}, const StepClocks& steps = {}) {
    Observation observation;
    observation.at = boot;
    return next_clock({}, decision, state, steps, observation).value_or(Clock{});
}

TEST(NextClock, OfAVictim) {
    State state;
    auto& flight = state.in_flight.emplace_back();
    flight.victim.kill_at = at(2s);
    EXPECT_EQ(clock_of(state).at, at(2s));
    EXPECT_EQ(clock_of(state).why, Why::termination_grace);
    flight.kill_sent = true;
    EXPECT_EQ(clock_of(state).at, at(32s));
    EXPECT_EQ(clock_of(state).why, Why::victim_timeout);
    flight.retry_at = at(1s);
    EXPECT_EQ(clock_of(state).at, at(1s));
    EXPECT_EQ(clock_of(state).why, Why::retry);
}

TEST(NextClock, OfTasksThatAreNotReaped) {
    State state;
    state.reaping.emplace_back();
    EXPECT_EQ(clock_of(state).at, at(100ms));
    EXPECT_EQ(clock_of(state).why, Why::unreaped_tasks);
}

TEST(NextClock, OfOwedMemoryAndOfRungs) {
    State owing;
    owing.owing.emplace_back().returned_at = boot;
    EXPECT_EQ(clock_of(owing).why, Why::owed_memory);
    State ladder;
    ladder.ladder.held.emplace_back().until = at(1s);
    EXPECT_EQ(clock_of(ladder).why, Why::ladder);
    EXPECT_EQ(clock_of(ladder).at, at(20ms));
}

TEST(NextClock, OfStallsAndOfWhatIsAwaited) {
    EXPECT_EQ(clock_of({}, {}, {.stall = at(2s), .awaited = {}}).why, Why::stall_grace);
    EXPECT_EQ(clock_of({}, {}, {.stall = at(2s), .awaited = at(1s)}).why, Why::awaited);
    EXPECT_EQ(clock_of({}, {}, {.stall = at(2s), .awaited = at(1s)}).at, at(1s));
    EXPECT_EQ(clock_of({}, {}, {.stall = at(-2s), .awaited = {}}).at, MonotonicTime{}) << "that one ran out";
}

}  // namespace
}  // namespace evictd::policy::testing
