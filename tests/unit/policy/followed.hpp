// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node whose victims are followed until their memory is back.
#pragma once

#include <map>

#include <gmock/gmock.h>

#include "owed.hpp"
#include "unit/policy/node.hpp"

namespace evictd::policy::testing {

// A node whose victims the kernel follows: "big" (cgroup 1) goes first, then "middle" (2), then "small" (3).
struct Followed : Node {
    explicit Followed(std::vector<Threshold> thresholds = {hard(100_MiB)}) {
        config.thresholds = std::move(thresholds);
        pods = {pod({.name = "big", .working_set = 300_MiB, .cgroup = 1}),
                pod({.name = "middle", .working_set = 200_MiB, .cgroup = 2}),
                pod({.name = "small", .working_set = 20_MiB, .cgroup = 3})};
        set(90_MiB);
    }
    Followed& set(Bytes available, Signal signal = Signal::memory_available) {
        Node::set(available, signal);
        return *this;
    }
    // What the kernel says of a pod's cgroup from now on.
    void say(const std::string& name, std::optional<bool> populated, std::optional<Bytes> held) {
        auto& one = find(name);
        victims[one.pod->uid.value] = {one.pod->uid, one.cgroup, populated, held};
        if (populated == false) one.populated = false;
    }
    Decision look(Duration since) {
        Observation observation = observe(since);
        const auto follow = [&](const PodUid& pod, CgroupId cgroup) {
            const auto said = victims.find(pod.value);
            observation.victims.push_back(said != victims.end() ? said->second
                                                                : ObservedVictim{pod, cgroup, true, std::nullopt});
        };
        for (const auto& flight : state.in_flight) follow(flight.victim.pod, flight.cgroup);
        for (const auto& owing : state.owing) follow(owing.victim.pod, owing.cgroup);
        Verdict verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
    // "big" is killed at once, and its last process is gone after 2 ms.
    Decision kill_big(std::optional<Bytes> held) {
        carry_out(look(0s), OutcomeStatus::delivered, 1ms);
        look(1ms);
        say("big", false, held);
        return look(2ms);
    }

    std::map<std::string, ObservedVictim> victims;
};

}  // namespace evictd::policy::testing
