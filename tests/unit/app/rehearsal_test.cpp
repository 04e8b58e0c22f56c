// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The eviction that is played through: it goes all the way to the victim's processes, and touches nobody.
#include "app/rehearsal.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_cgroups.hpp"
#include "fakes/fake_clock.hpp"

namespace evictd::app {
namespace {

ObservedPod observed(const std::string& uid, int priority = 0) {
    Pod pod;
    pod.uid = {uid};
    pod.name_space = "default";
    pod.name = uid;
    pod.phase = PodPhase::running;
    pod.priority = priority;
    return {.pod = std::make_shared<const Pod>(std::move(pod)),
            .usage = PodUsage{.usage = 10_MiB, .working_set = 10_MiB, .processes = 1},
            .cgroup = {1},
            .populated = true,
            .emptied_at = {}};
}

struct Rehearsals : testing::Test {
    std::optional<PodUid> play(std::vector<ObservedPod> pods) {
        Observation observation;
        observation.at = clock.monotonic();
        observation.readings[static_cast<std::size_t>(Signal::memory_available)] =
            Reading{.available = {(7_GiB).value}, .capacity = {(8_GiB).value}, .at = observation.at};
        observation.pods = std::move(pods);
        return rehearse(EvictionConfig{}, std::move(observation), clock, [this](const Action& action) {
            asked.push_back(action.pod.value);
            return cgroup;
        });
    }

    fakes::FakeClock clock;
    std::shared_ptr<fakes::FakePodCgroup> cgroup = std::make_shared<fakes::FakePodCgroup>(CgroupId{1}, "/kubepods/pod");
    std::vector<std::string> asked;
};

TEST_F(Rehearsals, GoesToTheProcessesOfTheVictimAndEndsNoneOfThem) {
    clock.set(MonotonicTime{std::chrono::hours(1)});
    EXPECT_EQ(play({observed("a"), observed("b", 7)}), PodUid{"a"});
    EXPECT_EQ(asked, std::vector<std::string>{"a"});
    EXPECT_EQ(cgroup->kills, 0);
}

TEST_F(Rehearsals, WithNoEvictablePodNothingIsRehearsed) {
    clock.set(MonotonicTime{std::chrono::hours(1)});
    EXPECT_FALSE(play({}));
    EXPECT_FALSE(play({observed("critical", 2'000'000'000)}));
    EXPECT_TRUE(asked.empty());
}

TEST_F(Rehearsals, AVictimThatVanishesMeansItIsPlayedAgain) {
    clock.set(MonotonicTime{std::chrono::hours(1)});
    cgroup->removed = true;
    EXPECT_FALSE(play({observed("a")}));
}

}  // namespace
}  // namespace evictd::app
