// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What holds for every node and every course of events, tried on seeded random ones.
#include <algorithm>
#include <array>
#include <set>

#include <gmock/gmock.h>

#include "decide.hpp"
#include "qos.hpp"
#include "rank.hpp"
#include "unit/policy/random_node.hpp"

namespace evictd::policy::testing {
namespace {

constexpr unsigned seeds = 100;

// Looks at the node, and once more after a reclaim; hands each to `check(node, observation, state before, decision)`.
template <class Check>
void look(Dice& dice, Node& node, FsLayout layout, Duration since, Check check) {
    std::optional<ReclaimOutcome> reclaimed;
    while (true) {
        Observation observation = node.observe(since);
        observation.wall = WallTime(std::chrono::hours(1) + since);
        observation.fs_layout = layout;
        observation.reclaimed = reclaimed;
        const State before = node.state;
        Verdict verdict = decide(node.config, observation, before);
        node.state = std::move(verdict.state);
        node.outcomes.clear();
        check(node, observation, before, verdict.decision);
        carry_out(dice, node, verdict.decision, since);
        if (reclaimed || verdict.decision.reclaim.empty()) return;
        reclaimed.emplace();
        reclaim(dice, node, layout);
    }
}

// A random course of 60 looks.
template <class Check>
void run(unsigned seed, Check check) {
    Dice dice(seed);
    Node node = random_node(dice);
    const FsLayout layout = random_layout(dice);
    Duration since{0};
    for (int i = 0; i < 60; ++i) {
        change_something(dice, node);
        since += std::chrono::milliseconds(dice.below(8000));
        look(dice, node, layout, since, check);
    }
}

// What is decided, in words; two decisions that read the same do the same.
std::string told(const Decision& decision) {
    std::string text = decision.why;
    for (const auto& met : decision.thresholds_met) text += " " + std::string(name(met.threshold.signal));
    for (const auto condition : decision.conditions) text += " " + std::string(name(condition));
    for (const auto& ranked : decision.ranking) text += " " + std::to_string(ranked.pod);
    for (const auto& action : decision.actions) text += " " + action.pod_name;
    for (const auto reclaim : decision.reclaim) text += " " + std::string(name(reclaim));
    for (const auto& eviction : decision.limit_evictions) text += " " + eviction.message;
    if (decision.evict) text += " " + decision.evict->message + to_string(decision.evict->grace_period);
    const auto next = decision.look_again_at.value_or(MonotonicTime::max()).time_since_epoch();
    return text + " " + to_string(Duration(next)) + "\n";
}

// Each is checked at every look of every course. The numbers say how often it was put to the test.
struct NodeProperties {
    std::array<int, signal_count> evictions{};
    int beyond_limits = 0;

    void at_most_one_eviction_a_look_and_never_of_an_exempt_pod(const Observation& observation, const State& before,
                                                                const Decision& decision) {
        std::set<std::string> touched;
        for (const auto& action : decision.actions) EXPECT_TRUE(touched.insert(action.pod.value).second);
        const std::size_t begun = decision.limit_evictions.size() + (decision.evict ? 1 : 0);
        EXPECT_LE(decision.in_flight.size() + decision.finished.size(), before.in_flight.size() + begun);
        EXPECT_FALSE(decision.evict && !decision.limit_evictions.empty());
        EXPECT_FALSE(begun > 0 && !decision.reclaim.empty());

        std::set<std::string> chosen;
        for (const auto& eviction : decision.limit_evictions) chosen.insert(eviction.pod.value);
        if (decision.evict) chosen.insert(decision.evict->pod.value);
        EXPECT_EQ(chosen.size(), begun);
        for (const auto& observed : observation.pods) {
            if (!chosen.contains(observed.pod->uid.value)) continue;
            EXPECT_FALSE(is_critical_pod(*observed.pod));
            EXPECT_TRUE(observed.populated);
        }
        beyond_limits += static_cast<int>(decision.limit_evictions.size());
        if (decision.evict) ++evictions[static_cast<std::size_t>(decision.evict->threshold.threshold.signal)];
    }
    static void every_touched_pod_was_chosen_and_is_still_in_flight(const Decision& decision) {
        for (const auto& action : decision.actions) {
            EXPECT_TRUE(std::any_of(decision.in_flight.begin(), decision.in_flight.end(),
                                    [&](const Victim& victim) { return victim.pod == action.pod; }));
        }
    }
    static void no_pod_is_chosen_while_a_victim_delays_the_next(const Observation& observation,
                                                                const Decision& decision) {
        if (!decision.evict) return;
        for (const auto& victim : decision.in_flight) {
            if (victim.pod == decision.evict->pod) continue;
            EXPECT_GE(observation.at, victim.kill_at + 30s);
        }
    }
    static void there_is_a_reason_and_the_next_look_lies_ahead(const Observation& observation,
                                                               const Decision& decision) {
        EXPECT_FALSE(decision.why.empty());
        EXPECT_GT(decision.look_again_at.value_or(MonotonicTime::max()), observation.at);
    }
};

TEST(Always, WhateverHappensOnANode) {
    NodeProperties properties;
    for (unsigned seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        std::string course;
        run(seed, [&](const Node& node, const Observation& observation, const State& before, const Decision& decision) {
            properties.at_most_one_eviction_a_look_and_never_of_an_exempt_pod(observation, before, decision);
            NodeProperties::every_touched_pod_was_chosen_and_is_still_in_flight(decision);
            NodeProperties::no_pod_is_chosen_while_a_victim_delays_the_next(observation, decision);
            NodeProperties::there_is_a_reason_and_the_next_look_lies_ahead(observation, decision);
            course += told(decision);
            EXPECT_EQ(told(decide(node.config, observation, before).decision), told(decision));
        });
        std::string again;
        run(seed, [&](const auto&, const auto&, const auto&, const Decision& decision) { again += told(decision); });
        EXPECT_EQ(again, course) << "the same course of events";
    }
    EXPECT_GT(properties.beyond_limits, 30);
    for (std::size_t i = 0; i < signal_count; ++i)
        EXPECT_GT(properties.evictions[i], 0) << name(static_cast<Signal>(i));
}

TEST(Ranking, IsAPermutationOfTheActivePodsWhateverTheirOrder) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        Dice dice(seed);
        const EvictionConfig config = random_config(dice);
        const auto signal = static_cast<Signal>(seed % signal_count);
        Observation observation = random_observation(dice, 40);
        const auto ranked = names(rank_pods(config, signal, observation, {}), observation.pods);
        EXPECT_EQ(std::set<std::string>(ranked.begin(), ranked.end()).size(), ranked.size()) << seed;
        for (int i = 0; i < 5; ++i) {
            Observation shuffled = observation;
            shuffled.pods.clear();
            for (std::size_t left = observation.pods.size(); left > 0; --left) {
                const auto drawn = observation.pods.begin() + static_cast<std::ptrdiff_t>(dice.below(left));
                shuffled.pods.push_back(*drawn);
                observation.pods.erase(drawn);
            }
            observation = std::move(shuffled);
            EXPECT_EQ(names(rank_pods(config, signal, observation, {}), observation.pods), ranked) << seed;
        }
    }
}

// Pods that come in the order of their uids are not compared by uid again.
TEST(Ranking, OfEqualsIsTheSameWhetherPodsComeByUidOrNot) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        Dice dice(seed);
        const EvictionConfig config = random_config(dice);
        Observation observation = random_observation(dice, 60);
        for (auto& observed : observation.pods) observed.usage.reset();
        const auto by_uid = [](const ObservedPod& a, const ObservedPod& b) { return a.pod->uid < b.pod->uid; };
        std::sort(observation.pods.begin(), observation.pods.end(), by_uid);
        const auto sorted = names(rank_pods(config, Signal::memory_available, observation, {}), observation.pods);
        std::reverse(observation.pods.begin(), observation.pods.end());
        EXPECT_EQ(names(rank_pods(config, Signal::memory_available, observation, {}), observation.pods), sorted)
            << seed;
    }
}

TEST(Ranking, IsAStrictTotalOrder) {
    // Ranked in pairs, every pod goes before exactly those that follow it in the whole ranking. Ties are left to the
    // uid: how many of its owner's pods share a node, which scale-down asks, is another number in a pair.
    for (unsigned seed = 0; seed < seeds; ++seed) {
        Dice dice(seed);
        EvictionConfig config = random_config(dice);
        config.tie_break = TieBreak::uid;
        const auto signal = static_cast<Signal>(seed % signal_count);
        const Observation all = random_observation(dice, 12);
        const auto ranking = rank_pods(config, signal, all, {});
        for (std::size_t i = 0; i < ranking.size(); ++i) {
            for (std::size_t j = i + 1; j < ranking.size(); ++j) {
                Observation pair = all;
                pair.pods = {all.pods[ranking[j].pod], all.pods[ranking[i].pod]};
                EXPECT_EQ(rank_pods(config, signal, pair, {}).front().pod, 1U) << seed;
            }
        }
    }
}

// The look of the first eviction, or the number of looks. The same seed gives the same course of readings.
int first_eviction(unsigned seed, const EvictionConfig& config, FsLayout layout) {
    constexpr int looks = 40;
    Dice dice(seed);
    Node node{.config = config};
    node.pods = {pod({.name = "a", .working_set = 1_MiB})};
    for (int i = 0; i < looks; ++i) {
        change_readings(dice, node);
        Dice freed = dice;  // as much, whether or not somebody asks
        bool evicted = false;
        look(freed, node, layout, std::chrono::seconds(i),
             [&](const auto&, const auto&, const auto&, const Decision& decision) {
                 evicted = evicted || decision.evict.has_value();
             });
        if (evicted) return i;
    }
    return looks;
}

TEST(Always, AStricterThresholdNeverEvictsLater) {
    int earlier = 0;
    for (unsigned seed = 0; seed < 5 * seeds; ++seed) {
        Dice dice(seed);
        // One threshold a signal: of two hard ones, which no configuration can hold, the later decides for containerfs.
        std::set<Signal> signals{random_signal(dice), random_signal(dice)};
        EvictionConfig config;
        for (const Signal signal : signals) config.thresholds.push_back(random_threshold(dice, signal));
        const FsLayout layout = random_layout(dice);
        EvictionConfig stricter = config;
        Threshold& one = stricter.thresholds[dice.below(signals.size())];
        if (auto* amount = std::get_if<Quantity>(&one.value.value)) *amount = *amount + quantity(dice.bytes());
        if (auto* share = std::get_if<float>(&one.value.value)) *share *= 1.5F;
        if (one.min_reclaim) one.min_reclaim->value = std::get<Quantity>(one.min_reclaim->value) + quantity(1_MiB);
        one.grace_period -= one.grace_period / 2;
        if (dice.one_in(4)) one.grace_period = Duration::zero();
        const Signal another = random_signal(dice);
        if (signals.insert(another).second) stricter.thresholds.push_back(random_threshold(dice, another));
        const int plain = first_eviction(seed, config, layout);
        const int strict = first_eviction(seed, stricter, layout);
        EXPECT_LE(strict, plain) << seed;
        if (strict < plain) ++earlier;
    }
    EXPECT_GT(earlier, 20);
}

}  // namespace
}  // namespace evictd::policy::testing
