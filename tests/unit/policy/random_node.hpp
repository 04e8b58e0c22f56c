// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Seeded random nodes: pods, settings, and what becomes of them between two looks. Nothing is asserted here.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "reclaim.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {

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

inline PodWords random_pod(Dice& dice, std::size_t number) {
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

// All that an order, a limit or a tie may depend on. Small numbers, so that there are ties.
inline ObservedPod random_observed(Dice& dice, std::size_t number) {
    ObservedPod observed = pod(random_pod(dice, number));
    Pod made = *observed.pod;
    Container& app = made.containers.front();
    if (dice.one_in(2)) app.requests.ephemeral_storage = quantity(dice.bytes());
    if (dice.one_in(8)) app.limits.ephemeral_storage = quantity(dice.bytes());
    if (dice.one_in(8)) made.init_containers = {container("side", dice.bytes(), dice.one_in(2))};
    if (dice.one_in(8)) made.overhead.memory = quantity(dice.bytes());
    made.volumes = {{"cache", VolumeKind::empty_dir, dice.one_in(2), std::nullopt}};
    if (dice.one_in(8)) made.volumes[0].size_limit = quantity(dice.bytes());
    if (dice.one_in(2)) made.owners = {{"ReplicaSet", "web", "uid-web", true, false}};
    made.node_name = dice.one_in(4) ? "" : "node";
    made.ready = dice.one_in(2);
    if (dice.one_in(2)) made.ready_time = WallTime(std::chrono::seconds(dice.below(4)));
    if (dice.one_in(2)) made.creation_time = WallTime(std::chrono::seconds(dice.below(4)));
    made.restarts = static_cast<std::int32_t>(dice.below(2));
    made.deletion_cost = static_cast<std::int32_t>(dice.below(2));
    observed.pod = std::make_shared<Pod>(std::move(made));
    if (!observed.usage) return observed;
    observed.usage->processes = static_cast<std::int32_t>(dice.below(4));
    DiskUsage& disk = observed.usage->disk;
    disk = {dice.bytes(), dice.bytes(), dice.bytes(), {}, 0, 0, 0, {{"cache", dice.bytes()}}};
    disk.rootfs_inodes = static_cast<std::int64_t>(dice.below(4));
    disk.volumes_inodes = static_cast<std::int64_t>(dice.below(4));
    if (dice.one_in(2)) observed.usage->containers = {{"app", dice.bytes(), dice.bytes(), dice.bytes()}};
    return observed;
}

inline Signal random_signal(Dice& dice) { return static_cast<Signal>(dice.below(signal_count)); }

inline Threshold random_threshold(Dice& dice, Signal signal) {
    Threshold made = dice.one_in(2) ? soft(dice.bytes(), std::chrono::seconds(dice.below(30)), signal)
                                    : hard(dice.bytes(), std::nullopt, signal);
    if (dice.one_in(6)) made.value = {static_cast<float>(dice.below(100)) / 1e4F};
    if (dice.one_in(3)) made.min_reclaim = ThresholdValue{quantity(dice.bytes())};
    return made;
}

inline EvictionConfig random_config(Dice& dice) {
    EvictionConfig config;
    config.thresholds = {random_threshold(dice, Signal::memory_available)};
    for (std::size_t count = dice.below(5); count > 0; --count) {
        config.thresholds.push_back(random_threshold(dice, random_signal(dice)));
    }
    config.max_pod_grace_period = std::chrono::seconds(dice.below(20));
    config.local_storage_isolation = dice.one_in(4);
    config.ranking = dice.one_in(4) ? RankingOrder::qos : RankingOrder::kubelet;
    config.tie_break = dice.one_in(2) ? TieBreak::uid : TieBreak::scale_down;
    return config;
}

inline FsLayout random_layout(Dice& dice) { return static_cast<FsLayout>(dice.below(4)); }

inline Node random_node(Dice& dice) {
    Node node{.config = random_config(dice)};
    const std::size_t count = dice.below(20);
    for (std::size_t i = 0; i < count; ++i) node.pods.push_back(random_observed(dice, i));
    return node;
}

inline Observation random_observation(Dice& dice, std::size_t pods) {
    Observation observation;
    observation.wall = WallTime(std::chrono::hours(1));
    observation.fs_layout = random_layout(dice);
    for (std::size_t i = 0; i < pods; ++i) observation.pods.push_back(random_observed(dice, i));
    return observation;
}

inline void change_readings(Dice& dice, Node& node) {
    for (std::size_t i = 0; i < signal_count; ++i) node.set(dice.bytes(), static_cast<Signal>(i));
    if (dice.one_in(5)) node.forget(random_signal(dice));
}

inline void change_something(Dice& dice, Node& node) {
    change_readings(dice, node);
    if (node.pods.empty()) return;
    ObservedPod& one = node.pods[dice.below(node.pods.size())];
    if (dice.one_in(4)) one.populated = !one.populated;
    if (dice.one_in(20)) node.pods.erase(node.pods.begin());
}

// What a reclaim gives back lies where it looked for it.
inline void reclaim(Dice& dice, Node& node, FsLayout layout) {
    for (std::size_t i = 0; i < signal_count; ++i) {
        const Bytes freed = dice.bytes();
        if (!node.readings[i] || reclaim_for(static_cast<Signal>(i), layout).empty()) continue;
        node.readings[i]->available.value += freed.value;
    }
}

// Victims end, stay, vanish or cannot be killed.
inline void carry_out(Dice& dice, Node& node, const Decision& decision, Duration since) {
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

}  // namespace evictd::policy::testing
