// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A keeper of oom_score_adj over two pods, "a" and "b", whose class says 900.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_scores.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/score_keeper.hpp"

namespace evictd::reconcile {

constexpr int wanted = 900;

inline KeptPod pod(const std::string& name, std::uint64_t cgroup) {
    Pod made;
    made.uid = {"uid-" + name};
    made.name_space = "default";
    made.name = name;
    made.containers.push_back({.name = "app", .requests = {}, .limits = {}});
    return {std::make_shared<const Pod>(std::move(made)),
            std::make_shared<fakes::FakePodCgroup>(CgroupId{cgroup}, "/kubepods/pod" + name)};
}

class Keeper : public testing::Test {
protected:
    void make(ScoreOptions options = {}) {
        options.ledger_path = memory;
        options.wanted = [](const Pod&, const std::string&, Bytes) { return ScoreRange{wanted, wanted}; };
        keeper.emplace(scores, clock, options, [this](AgentNotice notice) { told.push_back(std::move(notice)); });
    }
    void look() { keeper->look({a, b}, 1_GiB); }
    void pass(Duration time) {
        clock.advance(time);
        keeper->act_on_time();
    }
    [[nodiscard]] std::size_t count(const std::string& part) const {
        return static_cast<std::size_t>(std::count_if(told.begin(), told.end(), [&](const AgentNotice& notice) {
            return notice.message.find(part) != std::string::npos;
        }));
    }

    fakes::TempDir directory;
    std::string memory = directory / "state/raised_scores";
    fakes::FakeClock clock;
    fakes::FakeScores scores;
    std::vector<AgentNotice> told;
    std::optional<ScoreKeeper> keeper;
    KeptPod a = pod("a", 1);
    KeptPod b = pod("b", 2);
};

}  // namespace evictd::reconcile
