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

constexpr unsigned owed_seeds = 60;

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

TEST(AlwaysOwed, AtMostOneNewVictimALookAndOnlyOneThatASignalReaches) {
    int evictions = 0;
    for (unsigned seed = 0; seed < owed_seeds; ++seed) {
        World(seed).run([&](const Observation& observation, const State&, const Decision& decision, const State&) {
            EXPECT_LE(decision.actions.size(), 1U) << seed;
            if (!decision.evict) return;
            ++evictions;
            for (const auto& observed : observation.pods) {
                const bool chosen = observed.pod->uid == decision.evict->pod;
                EXPECT_TRUE(!chosen || observed.populated) << seed;
            }
        });
    }
    EXPECT_GT(evictions, 500);
}

TEST(AlwaysOwed, NoPodIsChosenWhileTheLastVictimIsUnknownOrItsMemoryStillComes) {
    int waited = 0;
    for (unsigned seed = 0; seed < owed_seeds; ++seed) {
        World(seed).run(
            [&](const Observation& observation, const State& before, const Decision& decision, const State& after) {
                for (const auto& flight : before.in_flight) {
                    const bool held_up = observation.at < hold_until(flight) && !is_known_gone(observation, flight);
                    waited += held_up ? 1 : 0;
                    EXPECT_FALSE(held_up && decision.evict) << seed;
                }
                EXPECT_FALSE(decision.evict && is_returning(after)) << seed;
                // For thirty seconds at most.
                for (const auto& owing : after.owing) {
                    EXPECT_TRUE(owing.overdue || observation.at < owing.victim.kill_at + 30s) << seed;
                }
            });
    }
    EXPECT_GT(waited, 500);
}

TEST(AlwaysOwed, AfterOneThatDidNotHelpTheNextWaitsTenSecondsUnlessMemoryFalls) {
    int slow = 0;
    for (unsigned seed = 0; seed < owed_seeds; ++seed) {
        World(seed).run(
            [&](const Observation& observation, const State& before, const Decision& decision, const State&) {
                if (!decision.evict) return;
                for (const auto& owing : before.owing) {
                    const auto still = std::find_if(decision.owed.begin(), decision.owed.end(), [&](const auto& one) {
                        return one.cgroup == owing.cgroup && one.overdue;
                    });
                    if (!owing.overdue || still == decision.owed.end() || still->fresh) continue;
                    const auto now = observation.readings[0]->available.value;
                    if (now < owing.available[0]->value) continue;
                    ++slow;
                    EXPECT_GE(observation.at, owing.victim.emptied_at + 10s) << seed;
                }
            });
    }
    EXPECT_GT(slow, 20);
}

TEST(AlwaysOwed, WhatIsNotReturnedIsReportedOnce) {
    for (unsigned seed = 0; seed < owed_seeds; ++seed) {
        std::set<std::pair<std::uint64_t, MonotonicTime>> reported;  // a pod may be evicted twice
        World(seed).run([&](const Observation&, const State&, const Decision& decision, const State&) {
            for (const auto& owed : decision.owed) {
                EXPECT_TRUE(!owed.fresh || reported.insert({owed.cgroup.value, owed.since}).second) << seed;
            }
        });
    }
}

}  // namespace
}  // namespace evictd::policy::testing
