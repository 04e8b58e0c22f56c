// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What holds of victims whose cgroups the kernel is asked about, whatever it says of them: tried on seeded random
// courses in which memory comes back at once, late, in part, never, or cannot be measured.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "flight.hpp"
#include "owed.hpp"
#include "unit/policy/random_node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr unsigned owed_seeds = 120;

// One victim's cgroup, as the kernel has it.
struct Fate {
    bool populated = true;
    bool readable = true;
    Bytes held;
};

class World {
public:
    explicit World(unsigned seed) : dice_(seed) {
        node_.config.thresholds = {hard(64_MiB)};
        for (std::uint64_t i = 0; i < 8; ++i) {
            node_.pods.push_back(pod({.name = "pod-" + std::to_string(i),
                                      .working_set = dice_.bytes() + 8_MiB,
                                      .priority = static_cast<std::int32_t>(dice_.below(2)),
                                      .populated = !dice_.one_in(6),
                                      .cgroup = i + 1}));
        }
    }

    // `check(observation, state before, decision, state after)`
    template <class Check>
    void run(Check check) {
        Duration since{0};
        for (int i = 0; i < 300; ++i) {
            since += dice_.one_in(4) ? std::chrono::milliseconds(dice_.below(9000))
                                     : std::chrono::milliseconds(1 + dice_.below(40));
            node_.set(dice_.one_in(8) ? 4_GiB : dice_.bytes());
            change_fates();
            Observation observation = node_.observe(since);
            follow(observation);
            const State before = node_.state;
            Verdict verdict = decide(node_.config, observation, before);
            node_.state = verdict.state;
            check(observation, before, verdict.decision, node_.state);
            node_.outcomes.clear();
            act(verdict.decision, since);
        }
    }

private:
    void follow(Observation& observation) {
        const auto add = [&](const PodUid& uid, CgroupId cgroup) {
            const Fate& fate = fates_[cgroup.value];
            ObservedVictim victim{uid, cgroup, std::nullopt, std::nullopt};
            if (fate.readable) victim.populated = fate.populated;
            if (fate.readable && !dice_.one_in(9)) victim.held = fate.held;
            observation.victims.push_back(victim);
        };
        for (const auto& flight : node_.state.in_flight) add(flight.victim.pod, flight.cgroup);
        for (const auto& owing : node_.state.owing) add(owing.victim.pod, owing.cgroup);
    }
    void change_fates() {
        for (auto& observed : node_.pods) {
            Fate& fate = fates_[observed.cgroup.value];
            fate.readable = !dice_.one_in(20);
            if (!fate.populated && dice_.one_in(3)) fate.held = Bytes{fate.held.value * 3 / 4};
            if (!fate.populated && dice_.one_in(60)) revive(observed);
        }
    }
    void revive(ObservedPod& observed) {
        observed.populated = fates_[observed.cgroup.value].populated = true;
        observed.usage->working_set = dice_.bytes() + 8_MiB;
    }
    void act(const Decision& decision, Duration since) {
        const auto status = dice_.one_in(6)   ? OutcomeStatus::failed
                            : dice_.one_in(9) ? OutcomeStatus::vanished
                                              : OutcomeStatus::delivered;
        node_.carry_out(decision, status, since, "an error");
        if (status != OutcomeStatus::delivered) return;
        for (const auto& action : decision.actions) {
            auto& observed = *std::find_if(node_.pods.begin(), node_.pods.end(),
                                           [&](const auto& one) { return one.pod->uid == action.pod; });
            observed.populated = dice_.one_in(9);
            Fate& fate = fates_[observed.cgroup.value];
            fate.populated = observed.populated;
            fate.held = dice_.one_in(2) ? 0_MiB : Bytes{observed.usage->working_set.value * 9 / 10};
        }
    }

    Dice dice_;
    Node node_;
    std::map<std::uint64_t, Fate> fates_;
};

bool is_known_gone(const Observation& observation, const InFlight& flight) {
    return std::any_of(observation.victims.begin(), observation.victims.end(), [&](const ObservedVictim& seen) {
        return seen.pod == flight.victim.pod && seen.populated == false;
    });
}

// Each is checked at every look of every course. The numbers say how often it was put to the test.
struct OwedProperties {
    int evictions = 0;
    int waited = 0;
    int slow = 0;
    std::set<std::pair<std::uint64_t, MonotonicTime>> reported;  // a pod may be evicted twice

    void at_most_one_new_victim_a_look_and_only_one_that_a_signal_reaches(const Observation& observation,
                                                                          const Decision& decision) {
        EXPECT_LE(decision.actions.size(), 1U);
        if (!decision.evict) return;
        ++evictions;
        for (const auto& observed : observation.pods) {
            const bool chosen = observed.pod->uid == decision.evict->pod;
            EXPECT_TRUE(!chosen || observed.populated);
        }
    }
    void no_pod_is_chosen_while_the_last_victim_is_unknown_or_its_memory_still_comes(const Observation& observation,
                                                                                     const State& before,
                                                                                     const Decision& decision,
                                                                                     const State& after) {
        for (const auto& flight : before.in_flight) {
            const bool held_up = observation.at < hold_until(flight) && !is_known_gone(observation, flight);
            waited += held_up ? 1 : 0;
            EXPECT_FALSE(held_up && decision.evict);
        }
        EXPECT_FALSE(decision.evict && is_returning(after));
        // For thirty seconds at most.
        for (const auto& owing : after.owing) {
            EXPECT_TRUE(owing.overdue || observation.at < owing.victim.kill_at + 30s);
        }
    }
    void after_one_that_did_not_help_the_next_waits_ten_seconds_unless_memory_falls(const Observation& observation,
                                                                                    const State& before,
                                                                                    const Decision& decision) {
        if (!decision.evict) return;
        for (const auto& owing : before.owing) {
            const auto still = std::find_if(decision.owed.begin(), decision.owed.end(),
                                            [&](const auto& one) { return one.cgroup == owing.cgroup && one.overdue; });
            if (!owing.overdue || still == decision.owed.end() || still->fresh) continue;
            const auto now = observation.readings[0]->available.value;
            if (now < owing.available[0]->value) continue;
            ++slow;
            EXPECT_GE(observation.at, owing.victim.emptied_at + 10s);
        }
    }
    void what_is_not_returned_is_reported_once(const Decision& decision) {
        for (const auto& owed : decision.owed) {
            EXPECT_TRUE(!owed.fresh || reported.insert({owed.cgroup.value, owed.since}).second);
        }
    }
};

TEST(AlwaysOwed, WhateverTheKernelSaysOfTheVictims) {
    OwedProperties properties;
    for (unsigned seed = 0; seed < owed_seeds; ++seed) {
        SCOPED_TRACE(seed);
        properties.reported.clear();
        World(seed).run([&](const auto& observation, const auto& before, const auto& decision, const auto& after) {
            properties.at_most_one_new_victim_a_look_and_only_one_that_a_signal_reaches(observation, decision);
            properties.no_pod_is_chosen_while_the_last_victim_is_unknown_or_its_memory_still_comes(observation, before,
                                                                                                   decision, after);
            properties.after_one_that_did_not_help_the_next_waits_ten_seconds_unless_memory_falls(observation, before,
                                                                                                  decision);
            properties.what_is_not_returned_is_reported_once(decision);
        });
    }
    EXPECT_GT(properties.evictions, 1000);
    EXPECT_GT(properties.waited, 1000);
    EXPECT_GT(properties.slow, 40);
}

}  // namespace
}  // namespace evictd::policy::testing
