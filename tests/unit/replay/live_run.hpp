// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent's night in memory: looks at a small node, decided by the real decide(), put on a tape by the real recorder.
// Victims are gone at the look after their kill.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/record.hpp"
#include "fakes/temp_dir.hpp"
#include "policy/decide.hpp"
#include "publish/tape_recorder.hpp"

namespace evictd::replay::testing {

using namespace std::chrono_literals;

inline Threshold threshold(Bytes value, Duration grace = 0s) {
    Threshold made;
    made.value.value = Quantity::of(value.value, Quantity::Format::binary_si);
    made.grace_period = grace;
    return made;
}

inline EvictionConfig limits(std::vector<Threshold> thresholds) {
    EvictionConfig config;
    config.thresholds = std::move(thresholds);
    config.pressure_transition_period = 10s;
    return config;
}

inline ObservedPod pod(const std::string& name, Bytes working_set, std::uint64_t cgroup) {
    auto made = std::make_shared<Pod>();
    made->uid = {"uid-" + name};
    made->name_space = "default";
    made->name = name;
    made->phase = PodPhase::running;
    made->containers = {{.name = "app"}};
    ObservedPod observed;
    observed.pod = std::move(made);
    observed.usage = PodUsage{working_set, working_set, working_set, 0_B, 1};
    observed.cgroup = {cgroup};
    observed.populated = true;
    return observed;
}

class LiveRun {
public:
    explicit LiveRun(EvictionConfig config, Bytes tape_size = 1_MiB)
        : recorder_({path, tape_size, 2}, "0.1.0", "n", {}) {
        set(std::move(config));
    }

    void set(EvictionConfig config) { config_ = std::make_shared<const EvictionConfig>(std::move(config)); }

    // One look, a second after the last one; true if it evicted somebody. One that is `lost` never gets to the tape.
    bool look(Bytes available, bool lost = false) {
        Tick tick;
        tick.observation.at = MonotonicTime(1h + ++number_ * 1s);
        tick.observation.wall = WallTime(56 * 365 * 24h + number_ * 1s);
        tick.observation.readings[0] = Reading{{available.value}, {(1_GiB).value}, tick.observation.at};
        if (reclaimable) tick.observation.readings[0]->memory = {.kubelet = available, .reclaimable = *reclaimable};
        tick.observation.pods = pods;
        tick.observation.watching = watching;
        tick.observation.outcomes = std::exchange(outcomes_, {});
        tick.number = number_;
        tick.config = config_;
        tick.before = std::make_shared<const State>(state_);
        auto verdict = policy::decide(*config_, tick.observation, state_);
        state_ = std::move(verdict.state);
        tick.decision = std::move(verdict.decision);
        for (const auto& action : tick.decision.actions) carry_out(action, tick.observation.at);
        const bool evicts = tick.decision.evict.has_value();
        if (!lost) recorder_.publish(std::make_shared<const Record>(std::move(tick)));
        return evicts;
    }

    fakes::TempDir directory;
    std::string path = directory / "night.tape";
    std::optional<Bytes> reclaimable;  // memory counted the other way, from now on
    Watching watching;                 // likewise
    std::vector<ObservedPod> pods{pod("hog", 600_MiB, 11), pod("web", 200_MiB, 12), pod("db", 100_MiB, 13)};

private:
    void carry_out(const Action& action, MonotonicTime at) {
        outcomes_.push_back(
            {.action = action, .decided_at = at, .delivered_at = at, .processes = 1, .method = "pidfd"});
        std::erase_if(pods, [&](const ObservedPod& observed) { return observed.pod->uid == action.pod; });
    }

    publish::TapeRecorder recorder_;
    std::shared_ptr<const EvictionConfig> config_;
    State state_;
    std::vector<Outcome> outcomes_;
    std::uint64_t number_ = 0;
};

}  // namespace evictd::replay::testing
