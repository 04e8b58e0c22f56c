// SPDX-License-Identifier: Apache-2.0
// What holds for every node and every course of events, tried on seeded random ones.
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "decide.hpp"
#include "qos.hpp"
#include "rank.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr unsigned seeds = 100;

class Dice {
public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    // Not std::uniform_int_distribution, whose numbers differ between standard libraries.
    std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
    bool one_in(std::uint64_t count) { return below(count) == 0; }
    Bytes bytes() { return {static_cast<std::int64_t>(below(64)) << 20}; }

private:
    std::mt19937_64 engine_;
};

PodWords random_pod(Dice& dice, std::size_t number) {
    PodWords words{.name = "pod-" + std::to_string(number), .working_set = dice.bytes(), .request = dice.bytes()};
    if (dice.one_in(10)) words.working_set = std::nullopt;
    if (dice.one_in(4)) words.request = std::nullopt;
    if (dice.one_in(2)) words.priority = static_cast<std::int32_t>(dice.below(3)) - 1;
    if (dice.one_in(8)) words.priority = 2'000'000'000 + static_cast<std::int32_t>(dice.below(9));
    if (dice.one_in(8)) words.origin = dice.one_in(2) ? PodOrigin::static_file : PodOrigin::mirror;
    if (dice.one_in(2)) words.started = std::chrono::seconds(dice.below(4));
    words.grace = std::chrono::seconds(dice.below(40));
    words.populated = !dice.one_in(8);
    words.deleted = dice.one_in(12);
    if (dice.one_in(12)) words.phase = PodPhase::failed;
    return words;
}

Node random_node(Dice& dice) {
    Node node;
    node.config.thresholds = {hard(dice.bytes()), soft(dice.bytes(), std::chrono::seconds(dice.below(30))),
                              hard(dice.bytes(), dice.bytes(), Signal::allocatable_memory_available)};
    node.config.max_pod_grace_period = std::chrono::seconds(dice.below(20));
    const std::size_t count = dice.below(20);
    for (std::size_t i = 0; i < count; ++i) node.pods.push_back(pod(random_pod(dice, i)));
    return node;
}

void change_something(Dice& dice, Node& node) {
    node.set(dice.bytes()).set(dice.bytes(), Signal::allocatable_memory_available);
    if (dice.one_in(10)) node.forget(Signal::memory_available);
    if (node.pods.empty()) return;
    ObservedPod& one = node.pods[dice.below(node.pods.size())];
    if (dice.one_in(4)) one.populated = !one.populated;
    if (dice.one_in(20)) node.pods.erase(node.pods.begin());
}

// Victims end, stay, vanish or cannot be killed.
void carry_out(Dice& dice, Node& node, const Decision& decision, Duration since) {
    const auto status = dice.one_in(5)   ? OutcomeStatus::failed
                        : dice.one_in(9) ? OutcomeStatus::vanished
                        : dice.one_in(9) ? OutcomeStatus::dry_run
                                         : OutcomeStatus::delivered;
    node.carry_out(decision, status, since, "an error");
    if (status != OutcomeStatus::delivered || dice.one_in(3)) return;
    for (const auto& action : decision.actions) {
        for (auto& observed : node.pods) {
            if (observed.pod->uid == action.pod) observed.populated = false;
        }
    }
}

// Runs a random course of 60 looks and hands each to `check(node before the look, observation, decision)`.
template <class Check>
void run(unsigned seed, Check check) {
    Dice dice(seed);
    Node node = random_node(dice);
    Duration since{0};
    for (int i = 0; i < 60; ++i) {
        change_something(dice, node);
        since += std::chrono::milliseconds(dice.below(8000));
        const Observation observation = node.observe(since);
        const State before = node.state;
        const Decision decision = node.look(since);
        check(node, observation, before, decision);
        carry_out(dice, node, decision, since);
    }
}

TEST(Always, AtMostOneEvictionALookAndNeverOfSomebodyExempt) {
    int evictions = 0;
    for (unsigned seed = 0; seed < seeds; ++seed) {
        run(seed, [&](const Node&, const Observation& observation, const State& before, const Decision& decision) {
            std::set<std::string> touched;
            for (const auto& action : decision.actions) EXPECT_TRUE(touched.insert(action.pod.value).second) << seed;
            const auto begun = decision.in_flight.size() + decision.finished.size();
            EXPECT_LE(begun, before.in_flight.size() + (decision.evict ? 1 : 0)) << seed;
            if (!decision.evict) return;
            ++evictions;
            for (const auto& observed : observation.pods) {
                if (observed.pod->uid != decision.evict->pod) continue;
                EXPECT_FALSE(is_critical_pod(*observed.pod)) << seed;
                EXPECT_TRUE(observed.populated) << seed;
            }
        });
    }
    EXPECT_GT(evictions, 300);  // the property was put to the test
}

TEST(Always, WhoeverIsTouchedWasChosenAndIsStillInFlight) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        run(seed, [&](const Node&, const Observation&, const State&, const Decision& decision) {
            for (const auto& action : decision.actions) {
                EXPECT_TRUE(std::any_of(decision.in_flight.begin(), decision.in_flight.end(),
                                        [&](const Victim& victim) { return victim.pod == action.pod; }))
                    << seed;
            }
        });
    }
}

TEST(Always, NobodyIsChosenWhileAVictimHoldsUpTheNext) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        run(seed, [&](const Node&, const Observation& observation, const State&, const Decision& decision) {
            if (!decision.evict) return;
            for (const auto& victim : decision.in_flight) {
                if (victim.pod == decision.evict->pod) continue;
                EXPECT_GE(observation.at, victim.kill_at + 30s) << seed;
            }
        });
    }
}

TEST(Always, TheSameArgumentsGiveTheSameVerdict) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        run(seed, [&](const Node& node, const Observation& observation, const State& before, const Decision& decision) {
            const Decision again = decide(node.config, observation, before).decision;
            EXPECT_EQ(again.why, decision.why) << seed;
            EXPECT_EQ(again.look_again_at, decision.look_again_at) << seed;
            EXPECT_EQ(evicted(again), evicted(decision)) << seed;
        });
    }
}

TEST(Always, ThereIsAReasonAndTheNextLookLiesAhead) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        run(seed, [&](const Node&, const Observation& observation, const State&, const Decision& decision) {
            EXPECT_FALSE(decision.why.empty()) << seed;
            EXPECT_GT(decision.look_again_at.value_or(MonotonicTime::max()), observation.at) << seed;
        });
    }
}

TEST(Ranking, IsAPermutationOfTheActivePodsWhateverTheirOrder) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        Dice dice(seed);
        Observation observation;
        for (std::size_t i = 0; i < 40; ++i) observation.pods.push_back(pod(random_pod(dice, i)));
        const auto ranked = names(rank_pods(Signal::memory_available, observation, {}), observation.pods);
        EXPECT_EQ(std::set<std::string>(ranked.begin(), ranked.end()).size(), ranked.size()) << seed;
        for (int i = 0; i < 5; ++i) {
            for (std::size_t j = observation.pods.size(); j > 1; --j) {
                std::swap(observation.pods[j - 1], observation.pods[dice.below(j)]);
            }
            EXPECT_EQ(names(rank_pods(Signal::memory_available, observation, {}), observation.pods), ranked) << seed;
        }
    }
}

TEST(Ranking, IsAStrictTotalOrder) {
    // Ranked in pairs, every pod goes before exactly those that follow it in the whole ranking.
    for (unsigned seed = 0; seed < 40; ++seed) {
        Dice dice(seed);
        Observation all;
        for (std::size_t i = 0; i < 12; ++i) {
            PodWords words = random_pod(dice, i);
            words.populated = true;
            all.pods.push_back(pod(words));
        }
        const auto ranking = rank_pods(Signal::memory_available, all, {});
        for (std::size_t i = 0; i < ranking.size(); ++i) {
            for (std::size_t j = i + 1; j < ranking.size(); ++j) {
                Observation pair;
                pair.pods = {all.pods[ranking[j].pod], all.pods[ranking[i].pod]};
                EXPECT_EQ(rank_pods(Signal::memory_available, pair, {}).front().pod, 1U) << seed;
            }
        }
    }
}

// The look of the first eviction, or the number of looks.
std::size_t first_eviction(const Threshold& threshold, const std::vector<Bytes>& available) {
    Node node{.config = {{threshold}}};
    node.pods = {pod({.name = "a", .working_set = 1_MiB})};
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (node.set(available[i]).look(std::chrono::seconds(i)).evict) return i;
    }
    return available.size();
}

TEST(Always, AStricterThresholdNeverEvictsLater) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        Dice dice(seed);
        std::vector<Bytes> available(40);
        for (auto& one : available) one = dice.bytes();
        const Bytes value = dice.bytes();
        const auto grace = std::chrono::seconds(dice.below(4));
        const std::size_t plain = first_eviction(soft(value, grace), available);
        EXPECT_LE(first_eviction(soft(value + dice.bytes(), grace), available), plain) << seed;
        EXPECT_LE(first_eviction(hard(value), available), plain) << seed;
    }
}

}  // namespace
}  // namespace evictd::policy::testing
