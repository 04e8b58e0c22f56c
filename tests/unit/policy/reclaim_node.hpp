// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A node short of disk, with an inventory of its runtime. Nothing is asserted here.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "garbage.hpp"
#include "inventory.hpp"
#include "node.hpp"

namespace evictd::policy::testing {

// 100Gi in all, a threshold of 10Gi, and a runtime with three images of 1Gi and a dead container.
struct ReclaimNode : Node {
    Inventory inventory{};
    std::optional<Duration> listed = 0s;  // when the inventory was made; none: there is no runtime
    FsLayout layout = FsLayout::single;
    bool pods_complete = false;

    ReclaimNode() : Node{.config = {{hard(10_GiB, std::nullopt, Signal::nodefs_available)}}} {
        pods = {pod({.name = "web"}), pod({.name = "job", .phase = PodPhase::failed, .populated = false})};
        pods[0].usage->disk.rootfs = 5_GiB;
        for (unsigned i = 1; i <= 3; ++i) inventory.image(image_id(i), 5h - i * 1h, 1_GiB);
        inventory.container("c", "uid-job", "s", 1h);
    }
    Decision disk(Duration since, Bytes available, std::optional<ReclaimOutcome> outcome = std::nullopt) {
        set(available, Signal::nodefs_available, 100_GiB);
        Observation observation = observe(since);
        observation.wall = inventory_wall + since;
        observation.fs_layout = layout;
        observation.pods_complete = pods_complete;
        observation.reclaimed = std::move(outcome);
        if (listed) {
            auto runtime = std::make_shared<Runtime>(inventory.runtime);
            runtime->at = at(*listed);
            runtime->since = boot;
            observation.runtime = runtime;
        }
        Verdict verdict = decide(config, observation, state);
        state = std::move(verdict.state);
        outcomes.clear();
        return std::move(verdict.decision);
    }
    static ReclaimOutcome done(const Decision& decision) { return {.errors = {}, .pass = decision.garbage.pass}; }
};

inline std::string named(const Decision& decision) {
    std::string said;
    for (const Garbage& one : decision.garbage.removals) said += (said.empty() ? "" : ", ") + one.id;
    return said;
}

}  // namespace evictd::policy::testing
