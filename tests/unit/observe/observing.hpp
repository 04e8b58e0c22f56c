// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One look over declared cgroup trees.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_node.hpp"
#include "observe/observer.hpp"
#include "observe/pod_table.hpp"

namespace evictd::observe {

inline PodPtr pod(const std::string& uid) {
    Pod made;
    made.uid = {uid};
    made.name_space = "default";
    made.name = uid;
    return std::make_shared<const Pod>(std::move(made));
}

struct Observing : testing::Test {
    fakes::FakeCgroupTree tree;
    fakes::FakeNode node;
    fakes::FakeClock clock;
    PodTable table;
    Observer observer{tree, node, clock};

    void declare(std::vector<fakes::FakeCgroup> lines, std::vector<std::string> pods) {
        tree.declare(std::move(lines));
        (void)tree.find_pods_root();
        table.set_cgroups(*tree.list_pods(), clock.monotonic());
        std::vector<PodPtr> known;
        for (const auto& uid : pods) known.push_back(pod(uid));
        table.set_pods(0, std::move(known));
    }
    Observation look() { return observer.look({}, table, {}, {}); }
    static const Reading& allocatable(const Observation& observation) {
        return *observation.readings[static_cast<std::size_t>(Signal::allocatable_memory_available)];
    }
};

}  // namespace evictd::observe
