// SPDX-License-Identifier: Apache-2.0
// The kill path on real processes that do their best to stay alive, and on whom it must not touch.
#include <csignal>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/executor.hpp"
#include "act/reaper.hpp"
#include "kernel/cgroup_dirs.hpp"
#include "kernel/cgroup_fixture.hpp"
#include "kernel/pod_cgroup.hpp"
#include "kernel/pod_process.hpp"
#include "sys/clock.hpp"

namespace evictd::kernel_test {
namespace {

struct NothingAfter final : act::AfterKill {
    void follow(port::PodCgroupPtr /*victim*/) override {}
};

port::PodCgroupPtr open_cgroup(const TestCgroups& cgroups, const std::string& name) {
    auto handle = kernel::CgroupHandle::open(hierarchies(), cgroups.path(name));
    EXPECT_TRUE(handle) << name;
    return handle ? *handle : nullptr;
}

Outcome carry_out(act::AfterKill& after, ActionKind kind, const port::PodCgroupPtr& cgroup, bool dry_run) {
    const sys::SystemClock clock;
    act::Executor executor(clock, after, dry_run);
    const Action action{kind, PodUid{"uid"}, "default/pod"};
    const auto outcomes = executor.carry_out({&action, 1}, clock.monotonic(), [&](const PodUid&) { return cgroup; });
    EXPECT_EQ(outcomes.size(), 1U);
    return outcomes.front();
}

class Kill : public testing::Test {
protected:
    void SetUp() override {
        auto reaper = act::Reaper::make(clock_);
        ASSERT_TRUE(reaper);
        reaper_ = std::move(*reaper);
        cgroups_.make(bystander_name_);
        bystander_ = std::make_unique<PodProcess>(cgroups_, bystander_name_);
    }
    void TearDown() override { EXPECT_TRUE(bystander_->running()) << "another pod was hit"; }

    Outcome act_on(ActionKind kind, const port::PodCgroupPtr& cgroup, bool dry_run = false) {
        return carry_out(*reaper_, kind, cgroup, dry_run);
    }
    // Kills the pod in `name` and waits until nobody is left in it.
    Outcome kill(const std::string& name) {
        const auto cgroup = open_cgroup(cgroups_, name);
        const auto outcome = act_on(ActionKind::kill, cgroup);
        EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
        EXPECT_TRUE(eventually([&] {
            const auto left = cgroup->processes();
            return left && left->empty();
        })) << name;
        return outcome;
    }

    TestCgroups cgroups_;
    sys::SystemClock clock_;
    std::unique_ptr<act::Reaper> reaper_;
    const std::string bystander_name_ = "kubepods/podbystander/container";
    std::unique_ptr<PodProcess> bystander_;
};

TEST_F(Kill, EveryProcessOfEveryContainerDies) {
    cgroups_.make("kubepods/podvictim/one");
    cgroups_.make("kubepods/podvictim/two/inner");
    PodProcess first(cgroups_, "kubepods/podvictim/one");
    PodProcess second(cgroups_, "kubepods/podvictim/one");
    PodProcess third(cgroups_, "kubepods/podvictim/two/inner");
    const auto begin = clock_.monotonic();
    const auto outcome = kill("kubepods/podvictim");
    EXPECT_EQ(outcome.method == "cgroup.kill", hierarchies().v2);
    EXPECT_GE(outcome.delivered_at, begin);
    for (auto* process : {&first, &second, &third}) EXPECT_TRUE(process->killed_by(SIGKILL));
}

TEST_F(Kill, SigtermIsARequestAndSigkillIsNone) {
    cgroups_.make("kubepods/podpolite");
    cgroups_.make("kubepods/podstubborn");
    PodProcess polite(cgroups_, "kubepods/podpolite");
    PodProcess stubborn(cgroups_, "kubepods/podstubborn", [](const Line& line) {
        static const Line* told = nullptr;
        told = &line;
        std::signal(SIGTERM, [](int) { told->say('t'); });
        line.say('r');
        for (;;) ::pause();
    });
    ASSERT_TRUE(stubborn.hear());
    for (const char* name : {"kubepods/podpolite", "kubepods/podstubborn"}) {
        const auto outcome = act_on(ActionKind::terminate, open_cgroup(cgroups_, name));
        EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
        EXPECT_EQ(outcome.processes, 1);
        EXPECT_EQ(outcome.method, "pidfd");
    }
    EXPECT_TRUE(polite.killed_by(SIGTERM));
    EXPECT_EQ(stubborn.hear(), 't');
    EXPECT_TRUE(stubborn.running());
    kill("kubepods/podstubborn");
    EXPECT_TRUE(stubborn.killed_by(SIGKILL));
}

TEST_F(Kill, AStoppedProcessDies) {
    cgroups_.make("kubepods/podstopped");
    PodProcess pod(cgroups_, "kubepods/podstopped");
    ASSERT_EQ(::kill(pod.pid(), SIGSTOP), 0);
    kill("kubepods/podstopped");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AFrozenPodDies) {
    cgroups_.make("kubepods/podfrozen/container");
    PodProcess pod(cgroups_, "kubepods/podfrozen/container");
    cgroups_.freeze("kubepods/podfrozen");
    kill("kubepods/podfrozen");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AFrozenContainerInAPodThatIsNotDies) {
    cgroups_.make("kubepods/podhalf/container");
    PodProcess pod(cgroups_, "kubepods/podhalf/container");
    cgroups_.freeze("kubepods/podhalf/container");
    kill("kubepods/podhalf");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AForkBombDies) {
    cgroups_.make("kubepods/podbomb/container");
    cgroups_.limit_processes("kubepods/podbomb", 40);
    PodProcess pod(cgroups_, "kubepods/podbomb/container", [](const Line& line) {
        line.say('r');
        std::signal(SIGCHLD, SIG_IGN);
        for (;;) {
            if (::fork() == 0) continue;
            if (::fork() == 0) ::_exit(0);  // pids come and go all the time
        }
    });
    ASSERT_TRUE(pod.hear());
    ASSERT_TRUE(eventually([&] { return cgroups_.processes("kubepods/podbomb/container").size() > 20; }));
    kill("kubepods/podbomb");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
}

TEST_F(Kill, AProcessOfManyThreadsDiesOnceAndItsMemoryComesBack) {
    cgroups_.make("kubepods/podthreads");
    PodProcess pod(cgroups_, "kubepods/podthreads", [](const Line& line) {
        for (int i = 0; i < 8; i++) std::thread([] { ::pause(); }).detach();
        touch(64_MiB);
        line.say('r');
        line.hear();
    });
    ASSERT_TRUE(pod.hear());
    EXPECT_GT(cgroups_.usage("kubepods/podthreads"), (60_MiB).value);
    kill("kubepods/podthreads");
    EXPECT_TRUE(pod.killed_by(SIGKILL));
    EXPECT_TRUE(eventually([&] { return cgroups_.usage("kubepods/podthreads") < (8_MiB).value; }));
}

TEST_F(Kill, AnEmptyPodIsDeliveredToNobody) {
    cgroups_.make("kubepods/podempty");
    EXPECT_EQ(kill("kubepods/podempty").processes, 0);
}

TEST_F(Kill, ACgroupMadeAnewUnderTheSameNameIsNotTouched) {
    cgroups_.make("kubepods/podreborn");
    const auto held = open_cgroup(cgroups_, "kubepods/podreborn");
    const auto reborn = [&] {
        for (const auto& mount : {hierarchies().memory, hierarchies().freezer}) {
            if (mount.empty()) continue;
            const auto directory = mount + cgroups_.path("kubepods/podreborn");
            EXPECT_EQ(::rmdir(directory.c_str()), 0);
            EXPECT_EQ(::mkdir(directory.c_str(), 0755), 0);
        }
    };
    reborn();
    EXPECT_NE(cgroups_.id("kubepods/podreborn"), held->id());
    PodProcess innocent(cgroups_, "kubepods/podreborn");
    for (const auto kind : {ActionKind::terminate, ActionKind::kill}) {
        const auto outcome = act_on(kind, held);
        EXPECT_EQ(outcome.status, OutcomeStatus::vanished) << outcome.error;
        EXPECT_FALSE(outcome.error.empty());
        EXPECT_TRUE(innocent.running());
    }
    EXPECT_EQ(held->processes().error().kind, ErrorKind::vanished);
}

TEST_F(Kill, APodWithoutACgroupHasVanished) {
    EXPECT_EQ(act_on(ActionKind::kill, nullptr).status, OutcomeStatus::vanished);
}

TEST_F(Kill, DryRunSaysWhatWouldDieAndTouchesNothing) {
    cgroups_.make("kubepods/podspared/container");
    PodProcess first(cgroups_, "kubepods/podspared/container");
    PodProcess second(cgroups_, "kubepods/podspared/container");
    const auto outcome = act_on(ActionKind::kill, open_cgroup(cgroups_, "kubepods/podspared"), true);
    EXPECT_EQ(outcome.status, OutcomeStatus::dry_run);
    EXPECT_EQ(outcome.processes, 2);
    EXPECT_TRUE(first.running());
    EXPECT_TRUE(second.running());
}

TEST_F(Kill, TheAgentNeverEndsThePodItRunsIn) {
    cgroups_.make("kubepods/podself/container");
    PodProcess agent(cgroups_, "kubepods/podself/container", [&](const Line& line) {
        NothingAfter after;
        for (const auto kind : {ActionKind::kill, ActionKind::terminate}) {
            const auto outcome = carry_out(after, kind, open_cgroup(cgroups_, "kubepods/podself"), false);
            line.say(outcome.status == OutcomeStatus::failed ? 'f' : 'x');
        }
        line.hear();
    });
    EXPECT_EQ(agent.hear(), 'f');
    EXPECT_EQ(agent.hear(), 'f');
    EXPECT_TRUE(agent.running());
}

}  // namespace
}  // namespace evictd::kernel_test
