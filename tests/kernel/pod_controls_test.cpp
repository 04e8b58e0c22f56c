// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The ladder's control files on the running kernel: a pod stands still and goes on, its cache is given back, its limit
// is what was written; and what has to be put back is, by another process than the one that did it.
#include "kernel/pod_controls.hpp"

#include <array>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/guard.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/cgroup_fixture.hpp"
#include "kernel/ladder_support.hpp"
#include "kernel/pod_process.hpp"
#include "reconcile/held_rungs.hpp"
#include "sys/file.hpp"

namespace evictd::kernel_test {
namespace {

bool can_freeze() { return hierarchies().v2 || !hierarchies().freezer.empty(); }

// Freezing takes its time.
bool stands_still(const port::CgroupPlace& pod) {
    const auto& mounts = hierarchies();
    const auto file =
        mounts.v2 ? mounts.memory + pod.path + "/cgroup.events" : mounts.freezer + pod.path + "/freezer.state";
    const auto state = sys::read_file(file, 4096).value_or("");
    return state.find(mounts.v2 ? "frozen 1" : "FROZEN") != std::string::npos;
}

struct PodControls : testing::Test {
    PodControls() { cgroups.make("kubepods/podweb/app"); }
    [[nodiscard]] port::CgroupPlace web() const {
        return {cgroups.path("kubepods/podweb"), cgroups.id("kubepods/podweb")};
    }

    TestCgroups cgroups;
    kernel::PodControls controls{hierarchies()};
};

// Says a letter whenever it hears one.
void answer(const Line& line) {
    while (true) {
        line.say(line.hear());
    }
}

TEST_F(PodControls, AFrozenPodStandsStillUntilItIsThawed) {
    if (!can_freeze()) GTEST_SKIP() << "no freezer";
    PodProcess process(cgroups, "kubepods/podweb/app", answer);
    process.say('a');
    ASSERT_EQ(process.hear(), 'a');
    EXPECT_FALSE(controls.is_frozen(web()).value());
    ASSERT_TRUE(controls.set_frozen(web(), true));
    EXPECT_TRUE(controls.is_frozen(web()).value());
    EXPECT_TRUE(eventually([&] { return stands_still(web()); }));
    process.say('b');
    EXPECT_FALSE(process.hear(std::chrono::milliseconds(200)));
    ASSERT_TRUE(controls.set_frozen(web(), false));
    EXPECT_EQ(process.hear(), 'b');
    EXPECT_FALSE(controls.is_frozen(web()).value());
}

// As a container runtime pauses one.
TEST_F(PodControls, AContainerThatAnotherProgramFrozeStaysFrozen) {
    if (!can_freeze()) GTEST_SKIP() << "no freezer";
    PodProcess process(cgroups, "kubepods/podweb/app");
    cgroups.freeze("kubepods/podweb/app");
    ASSERT_TRUE(controls.set_frozen(web(), true));
    ASSERT_TRUE(controls.set_frozen(web(), false));
    const port::CgroupPlace app{cgroups.path("kubepods/podweb/app"), cgroups.id("kubepods/podweb/app")};
    EXPECT_TRUE(controls.is_frozen(app).value());
    EXPECT_TRUE(controls.set_frozen(app, false));
}

TEST_F(PodControls, AnotherCgroupUnderTheSameNameIsNotTouched) {
    auto place = web();
    place.id.value++;
    for (const auto& error :
         {controls.set_frozen(place, true), controls.set_limit(place, 1_MiB), controls.reclaim(place, 1_MiB)}) {
        ASSERT_FALSE(error);
        EXPECT_EQ(error.error().kind, ErrorKind::vanished) << error.error().text();
    }
    const auto before = web();
    cgroups.remove("kubepods/podweb/app");
    cgroups.remove("kubepods/podweb");
    EXPECT_EQ(controls.usage(before).error().kind, ErrorKind::vanished);
}

TEST_F(PodControls, CacheIsGivenBackWhileAnonymousMemoryStays) {
    if (hierarchies().v2) {
        ColdFile file(48_MiB);
        PodProcess process(cgroups, "kubepods/podweb/app", [&](const Line& line) {
            touch(16_MiB);
            read_once(file.path(), 48_MiB);
            read_once(file.path(), 48_MiB);
            line.say('r');
            answer(line);
        });
        ASSERT_EQ(process.hear(), 'r');
        const auto before = controls.usage(web()).value();
        const auto done = controls.reclaim(web(), 32_MiB);
        ASSERT_TRUE(done) << done.error().text();
        EXPECT_LE(controls.usage(web()).value(), before - 16_MiB);
        EXPECT_GE(cgroups.total("kubepods/podweb", "anon"), (16_MiB).value);
    } else {
        const auto refused = controls.reclaim(web(), 1_MiB);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::failed) << "v1's force_empty would take everything";
    }
}

TEST_F(PodControls, TheLimitReadIsTheLimitWritten) {
    if (!hierarchies().v2) {
        EXPECT_EQ(controls.limit(web()).error().kind, ErrorKind::failed) << "v1 has nothing like memory.high";
        return;
    }
    EXPECT_EQ(controls.limit(web()).value(), port::no_limit);
    ASSERT_TRUE(controls.set_limit(web(), 64_MiB));
    EXPECT_EQ(controls.limit(web()).value(), 64_MiB);
    ASSERT_TRUE(controls.set_limit(web(), port::no_limit));
    EXPECT_EQ(controls.limit(web()).value(), port::no_limit);
}

TEST(Ladder, NamesTheRungsThisHostDoesNotHave) {
    const LadderConfig all{.squeeze = true, .freeze = true};
    const auto possible = kernel::possible_rungs(all, hierarchies());
    EXPECT_EQ(possible.squeeze, hierarchies().v2);
    EXPECT_EQ(possible.freeze, can_freeze());
    const auto row = kernel::ladder_row(all, hierarchies());
    if (hierarchies().v2) {
        EXPECT_EQ(row.chosen, "reclaim, squeeze, freeze");
    } else {
        EXPECT_TRUE(row.fallback);
        EXPECT_NE(row.detail.find("not on this host: reclaim, squeeze"), std::string::npos) << row.detail;
    }
}

// The agent's part is played by a process that freezes a pod and is killed.
TEST_F(PodControls, TheGuardThawsWhatAnAgentThatIsKilledLeftFrozenAndEnds) {
    if (!can_freeze()) GTEST_SKIP() << "no freezer";
    const fakes::TempDir directory;
    const std::string file = directory / "rungs";
    PodProcess pod(cgroups, "kubepods/podweb/app");
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t agent = fork();
    if (agent == 0) {
        auto guard = app::Guard::post(file);
        const bool held = guard && reconcile::remember_held(file, {{RungKind::freeze, web(), {}, {}}}) &&
                          controls.set_frozen(web(), true);
        (void)!write(ends[1], held ? "y" : "n", 1);
        while (true) pause();
    }
    char said = 0;
    ASSERT_EQ(read(ends[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    EXPECT_TRUE(controls.is_frozen(web()).value());
    (void)kill(agent, SIGKILL);
    (void)waitpid(agent, nullptr, 0);
    EXPECT_TRUE(eventually([&] { return !controls.is_frozen(web()).value(); }));
    EXPECT_TRUE(
        eventually([&] { return reconcile::remembered_held(file).value_or(reconcile::HeldLedger{}).held.empty(); }));
    (void)close(ends[1]);
    EXPECT_EQ(read(ends[0], &said, 1), 0) << "the guard is gone: it had the other end too";
    (void)close(ends[0]);
}

}  // namespace
}  // namespace evictd::kernel_test
