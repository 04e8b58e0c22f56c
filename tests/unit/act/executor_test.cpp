// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "act/executor.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "child_processes.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/few_descriptors.hpp"

namespace evictd::act {
namespace {

using fakes::FewDescriptors;

struct Followed final : AfterKill {
    void expect(std::span<const HeldProcess> doomed) override {
        for (const auto& process : doomed) {
            EXPECT_TRUE(process.pidfd);
            expected.push_back(process.pid);
        }
        if (on_expect) on_expect();
    }
    void follow(port::PodCgroupPtr victim, bool forks) override {
        victims.push_back(std::move(victim));
        any_forks = any_forks || forks;
    }
    void drop_cache(port::PodCgroupPtr /*victim*/) override {}
    void finish_terminating(port::PodCgroupPtr pod) override { unfinished.push_back(std::move(pod)); }
    std::vector<port::PodCgroupPtr> victims;
    bool any_forks = false;
    std::vector<pid_t> expected;
    std::function<void()> on_expect;
    std::vector<port::PodCgroupPtr> unfinished;
};

// A million, none with a process, 1 ms each.
class ManyEmptyCgroups final : public ListedCgroup {
public:
    explicit ManyEmptyCgroups(fakes::FakeClock& clock)
        : ListedCgroup([](int) { return std::vector<pid_t>{}; }), clock_(clock) {}
    Status each_batch(port::Listing /*listing*/,
                      const std::function<bool(const port::ProcessBatch&)>& visit) const override {
        for (visited = 0; visited < 1'000'000; visited++) {
            clock_.advance(std::chrono::milliseconds(1));
            if (!visit({{}, [] { return std::vector<pid_t>{}; }})) break;
        }
        return {};
    }
    mutable int visited = 0;

private:
    fakes::FakeClock& clock_;
};

class ExecutorTest : public testing::Test {
protected:
    Outcome act_on(ActionKind kind, const port::PodCgroupPtr& cgroup, bool dry_run = false) {
        Executor executor(clock_, after_, dry_run);
        const Action action{kind, {"uid-7"}, "default/web"};
        const auto outcomes =
            executor.carry_out({&action, 1}, decided_at_, [&](const Action&) -> port::PodCgroupPtr { return cgroup; });
        EXPECT_EQ(outcomes.size(), 1U);
        return outcomes.front();
    }
    // The reserve is taken before.
    Outcome kill_without_descriptors(const port::PodCgroupPtr& cgroup) {
        Executor executor(clock_, after_, false);
        const FewDescriptors none(0);
        const Action action{ActionKind::kill, {"uid-7"}, "default/web"};
        return executor
            .carry_out({&action, 1}, decided_at_, [&](const Action&) -> port::PodCgroupPtr { return cgroup; })
            .front();
    }

    fakes::FakeClock clock_;
    MonotonicTime decided_at_ = clock_.monotonic() - std::chrono::microseconds(90);
    Followed after_;
};

// Its walk takes a while after the last process.
class LongCgroup final : public ListedCgroup {
public:
    LongCgroup(List list, fakes::FakeClock& clock) : ListedCgroup(std::move(list)), clock_(clock) {}
    Status each_batch(port::Listing listing,
                      const std::function<bool(const port::ProcessBatch&)>& visit) const override {
        auto walked = ListedCgroup::each_batch(listing, visit);
        clock_.advance(std::chrono::microseconds(20));
        return walked;
    }

private:
    fakes::FakeClock& clock_;
};

TEST_F(ExecutorTest, AKillIsDeliveredWithTheLastSignal) {
    Child child;
    const auto begin = clock_.monotonic();
    const auto cgroup = std::make_shared<LongCgroup>([&](int) { return pids({&child}); }, clock_);
    EXPECT_EQ(act_on(ActionKind::kill, cgroup).delivered_at, begin);
    EXPECT_GT(clock_.monotonic(), begin);
}

TEST_F(ExecutorTest, KillSendsSigkillToEveryProcessAndIsFollowedUp) {
    Child first;
    Child second;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&first, &second}); });
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(first.ended_by(), SIGKILL);
    EXPECT_EQ(second.ended_by(), SIGKILL);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered);
    EXPECT_EQ(outcome.method, "pidfd");
    EXPECT_EQ(outcome.processes, 2);
    EXPECT_EQ(outcome.decided_at, decided_at_);
    EXPECT_EQ(outcome.delivered_at, clock_.monotonic());
    EXPECT_THAT(after_.victims, testing::ElementsAre(cgroup));
    EXPECT_EQ(cgroup->freezes, 0) << "the first strike does not wait for the freezer";
    EXPECT_FALSE(after_.any_forks);
}

TEST_F(ExecutorTest, ProcessesAreExpectedToDieBeforeTheyAreSignalled) {
    Child first;
    Child second;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&first, &second}); });
    after_.on_expect = [&] { EXPECT_TRUE(first.alive() && second.alive()); };
    (void)act_on(ActionKind::kill, cgroup);
    EXPECT_THAT(after_.expected, testing::UnorderedElementsAre(first.pid(), second.pid()));
}

TEST_F(ExecutorTest, OfManyProcessesTheFirstAreExpected) {
    std::vector<std::unique_ptr<Child>> children;
    while (children.size() < 12) children.push_back(std::make_unique<Child>());
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) {
        std::vector<pid_t> all;
        all.reserve(children.size());
        for (const auto& child : children) all.push_back(child->pid());
        return all;
    });
    cgroup->batch = 3;
    (void)act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(after_.expected.size(), 8U);
}

TEST_F(ExecutorTest, NobodyIsExpectedToDieOfSigtermOrInARehearsal) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->has_kill = true;
    (void)act_on(ActionKind::kill, cgroup, true);
    (void)act_on(ActionKind::terminate, cgroup);
    EXPECT_TRUE(after_.expected.empty());
}

TEST_F(ExecutorTest, WhatWasChosenForItsForksIsFollowedAsSuch) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    Executor executor(clock_, after_, false);
    const Action action{.kind = ActionKind::kill, .pod = {"uid-7"}, .pod_name = "default/web", .forks = true};
    (void)executor.carry_out({&action, 1}, decided_at_, [&](const Action&) -> port::PodCgroupPtr { return cgroup; });
    EXPECT_TRUE(after_.any_forks);
}

TEST_F(ExecutorTest, TerminateSendsSigtermAlsoWhereTheCgroupCanKillAndIsNotFollowedUp) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->has_kill = true;
    const auto outcome = act_on(ActionKind::terminate, cgroup);
    EXPECT_EQ(child.ended_by(), SIGTERM);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered);
    EXPECT_EQ(cgroup->kills, 0);
    EXPECT_TRUE(after_.victims.empty());
}

TEST_F(ExecutorTest, AProcessThatIsNoLongerInTheCgroupIsNotSignalled) {
    const Child moved;
    Child stays;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int look) {
        return look == 0 ? pids({&moved, &stays}) : pids({&stays});
    });
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(stays.ended_by(), SIGKILL);
    EXPECT_EQ(outcome.processes, 1);
    EXPECT_TRUE(moved.alive()) << "its pid may be another process's by now";
}

TEST_F(ExecutorTest, ACgroupRemovedBeforeTheSignalIsVanishedAndNoProcessIsTouched) {
    const Child child;
    for (const int removed_at : {0, 1}) {
        const auto cgroup = std::make_shared<ListedCgroup>([&](int look) -> Result<std::vector<pid_t>> {
            if (look >= removed_at) return fail(ErrorKind::vanished, "/kubepods/pod7", "the cgroup is gone");
            return pids({&child});
        });
        const auto outcome = act_on(ActionKind::kill, cgroup);
        EXPECT_EQ(outcome.status, OutcomeStatus::vanished);
        EXPECT_NE(outcome.error, "");
        EXPECT_NE(outcome.delivered_at, MonotonicTime{});
        EXPECT_TRUE(child.alive());
    }
    EXPECT_TRUE(after_.victims.empty());
}

TEST_F(ExecutorTest, APodWithoutACgroupIsVanished) {
    const auto outcome = act_on(ActionKind::kill, nullptr);
    EXPECT_EQ(outcome.status, OutcomeStatus::vanished);
    EXPECT_EQ(outcome.error, "default/web: its cgroup is gone");
}

TEST_F(ExecutorTest, ThePodThatEvictdRunsInIsRefused) {
    const Child neighbour;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) {
        return std::vector<pid_t>{neighbour.pid(), getpid()};
    });
    cgroup->has_us = true;
    for (const bool has_kill : {false, true}) {
        cgroup->has_kill = has_kill;
        for (const auto kind : {ActionKind::kill, ActionKind::terminate}) {
            const auto outcome = act_on(kind, cgroup);
            EXPECT_EQ(outcome.status, OutcomeStatus::refused);
            EXPECT_EQ(outcome.error, "default/web: evictd itself runs in this pod; it is not touched");
        }
    }
    EXPECT_TRUE(neighbour.alive());
    EXPECT_EQ(cgroup->kills, 0);
    EXPECT_TRUE(after_.victims.empty());
}

TEST_F(ExecutorTest, ADryRunCountsAndTouchesNothing) {
    const Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    for (const bool has_kill : {false, true}) {
        cgroup->has_kill = has_kill;
        for (const auto kind : {ActionKind::kill, ActionKind::terminate}) {
            const auto outcome = act_on(kind, cgroup, true);
            EXPECT_EQ(outcome.status, OutcomeStatus::dry_run);
            EXPECT_EQ(outcome.processes, 1);
        }
    }
    EXPECT_TRUE(child.alive());
    EXPECT_EQ(cgroup->kills + cgroup->freezes + cgroup->thaws, 0);
    EXPECT_TRUE(after_.victims.empty());
}

// cgroup.kill may wait for the kernel's cgroup_mutex.
TEST_F(ExecutorTest, FewProcessesAreSignalledAndCgroupKillIsLeftToTheReaper) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->has_kill = true;
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.method, "pidfd");
    EXPECT_EQ(outcome.processes, 1);
    EXPECT_EQ(cgroup->kills, 0);
    EXPECT_EQ(child.ended_by(), SIGKILL);
    EXPECT_THAT(after_.victims, testing::ElementsAre(cgroup));
}

TEST_F(ExecutorTest, WhatForksIsKilledAsAWholeAtOnce) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->has_kill = true;
    Executor executor(clock_, after_, false);
    const Action action{.kind = ActionKind::kill, .pod = {"uid-7"}, .pod_name = "default/bomb", .forks = true};
    const auto outcomes =
        executor.carry_out({&action, 1}, decided_at_, [&](const Action&) -> port::PodCgroupPtr { return cgroup; });
    EXPECT_EQ(outcomes.front().method, "cgroup.kill");
    EXPECT_EQ(cgroup->kills, 1);
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

// Nobody said that it forks: a process of it did while its others were signalled.
TEST_F(ExecutorTest, WhatForksUnderTheSignalsIsKilledAsAWholeAtOnce) {
    Child parent;
    const Child born;
    const int looks_of_a_strike = 2;
    const auto cgroup = std::make_shared<ListedCgroup>(
        [&](int look) { return look < looks_of_a_strike ? pids({&parent}) : pids({&born}); });
    cgroup->has_kill = true;
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered);
    EXPECT_EQ(outcome.method, "cgroup.kill");
    EXPECT_EQ(outcome.processes, 1);
    EXPECT_EQ(cgroup->kills, 1);
    EXPECT_EQ(parent.ended_by(), SIGKILL);
}

TEST_F(ExecutorTest, ManyProcessesAreKilledByTheirCgroupBeforeOneOfThemIsSignalled) {
    std::vector<std::unique_ptr<Child>> children(65);
    for (auto& child : children) child = std::make_unique<Child>();
    std::shared_ptr<ListedCgroup> cgroup;
    bool alive_at_kill = false;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        if (cgroup->kills == 0) alive_at_kill = children.front()->alive() && children.back()->alive();
        std::vector<pid_t> list;
        list.reserve(children.size());
        for (const auto& child : children) list.push_back(child->pid());
        return list;
    });
    cgroup->has_kill = true;
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.method, "cgroup.kill");
    EXPECT_EQ(cgroup->kills, 1);
    EXPECT_EQ(cgroup->looks_at_kill, 1);
    EXPECT_TRUE(alive_at_kill);
    EXPECT_EQ(outcome.processes, 65);
    EXPECT_EQ(children.back()->ended_by(), SIGKILL) << "cgroup.kill misses processes whose main thread has exited";
    EXPECT_EQ(children.front()->ended_by(), SIGKILL);
}

TEST_F(ExecutorTest, WhereTheCgroupRefusesToKillEachProcessIsSignalled) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->has_kill = true;
    cgroup->kill_result = fail(ErrorKind::failed, "cgroup.kill", "it is threaded");
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered);
    EXPECT_EQ(outcome.method, "pidfd");
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

TEST_F(ExecutorTest, MoreProcessesThanDescriptorsAreSignalledAllTheSame) {
    std::vector<std::unique_ptr<Child>> children(40);
    for (auto& child : children) child = std::make_unique<Child>();
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) {
        std::vector<pid_t> list;
        list.reserve(children.size());
        for (const auto& child : children) list.push_back(child->pid());
        return list;
    });
    for (const auto kind : {ActionKind::terminate, ActionKind::kill}) {
        const FewDescriptors few(16 + 3);  // the executor's own, and three
        const auto outcome = act_on(kind, cgroup);
        EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
        EXPECT_EQ(outcome.processes, 40);
    }
    for (const auto& child : children) EXPECT_EQ(child->ended_by(), SIGTERM);
}

TEST_F(ExecutorTest, WithoutDescriptorsThoseHeldInReserveAreUsed) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    const auto outcome = kill_without_descriptors(cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

// Its cgroup is found by opening files, as CgroupHandle does.
TEST_F(ExecutorTest, WhetherWeRunInThePodIsFoundOutWithTheReserveToo) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->opens_files = true;
    const auto outcome = kill_without_descriptors(cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered) << outcome.error;
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

TEST_F(ExecutorTest, APodThatWasStartedAnewInAnotherCgroupIsNotTouched) {
    const Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    Executor executor(clock_, after_, false);
    for (const auto kind : {ActionKind::terminate, ActionKind::kill}) {
        const Action action{kind, {"uid-7"}, "default/web", CgroupId{6}};
        const auto outcomes =
            executor.carry_out({&action, 1}, decided_at_, [&](const Action&) -> port::PodCgroupPtr { return cgroup; });
        EXPECT_EQ(outcomes.front().status, OutcomeStatus::vanished);
        EXPECT_EQ(outcomes.front().error, "default/web: it was restarted in another cgroup");
    }
    EXPECT_TRUE(child.alive());
    EXPECT_EQ(cgroup->looks, 0);
    EXPECT_TRUE(after_.victims.empty());
}

TEST_F(ExecutorTest, APodThatCannotBeSignalledIsAFailureWithItsReasonAndNeverGone) {
    const Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    for (const auto kind : {ActionKind::terminate, ActionKind::kill}) {
        const FewDescriptors none(0);  // before the executor, which gets no reserve
        const auto outcome = act_on(kind, cgroup);
        EXPECT_EQ(outcome.status, OutcomeStatus::failed);
        EXPECT_NE(outcome.error.find("Too many open files"), std::string::npos) << outcome.error;
    }
    EXPECT_TRUE(child.alive());
    EXPECT_TRUE(after_.victims.empty());
}

TEST_F(ExecutorTest, APopulatedPodThatListsNoProcessIsListedThoroughly) {
    Child child;
    for (const auto kind : {ActionKind::terminate, ActionKind::kill}) {
        std::shared_ptr<ListedCgroup> cgroup;
        cgroup = std::make_shared<ListedCgroup>(
            [&](int) { return cgroup->thorough ? pids({&child}) : std::vector<pid_t>{}; });
        EXPECT_EQ(act_on(kind, cgroup).processes, 1);
    }
    EXPECT_EQ(child.ended_by(), SIGTERM);
}

TEST_F(ExecutorTest, WhatCannotBeReadIsAFailureAndSignalledProcessesAreFollowed) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    cgroup->each_result = fail(ErrorKind::failed, "cgroup.procs", "Cannot allocate memory");
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::failed);
    EXPECT_EQ(outcome.error, "cgroup.procs: Cannot allocate memory");
    EXPECT_EQ(outcome.processes, 1);
    EXPECT_EQ(child.ended_by(), SIGKILL);
    EXPECT_THAT(after_.victims, testing::ElementsAre(cgroup));
}

TEST_F(ExecutorTest, APodThatTakesTooLongIsLeftToTheReaper) {
    std::vector<std::unique_ptr<Child>> children(8);
    for (auto& child : children) child = std::make_unique<Child>();
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) {
        clock_.advance(std::chrono::milliseconds(1));
        std::vector<pid_t> list;
        list.reserve(children.size());
        for (const auto& child : children) list.push_back(child->pid());
        return list;
    });
    cgroup->batch = 1;
    const auto terminated = act_on(ActionKind::terminate, cgroup);
    EXPECT_EQ(terminated.status, OutcomeStatus::delivered);
    EXPECT_LT(terminated.processes, 8);
    EXPECT_GT(terminated.processes, 0);
    EXPECT_THAT(after_.unfinished, testing::ElementsAre(cgroup));
    EXPECT_TRUE(after_.victims.empty());
    const auto killed = act_on(ActionKind::kill, cgroup);
    EXPECT_LT(killed.processes, 8);
    EXPECT_THAT(after_.victims, testing::ElementsAre(cgroup));
    EXPECT_TRUE(children.back()->alive());
}

// As where the agent's thread waits for its CPU.
TEST_F(ExecutorTest, AProcessIsSignalledHoweverLateTheFirstListComes) {
    Child first;
    Child second;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) {
        clock_.advance(std::chrono::seconds(1));
        return pids({&first, &second});
    });
    cgroup->batch = 1;
    ASSERT_EQ(act_on(ActionKind::terminate, cgroup).processes, 1);
    EXPECT_THAT(after_.unfinished, testing::ElementsAre(cgroup));
    EXPECT_EQ((first.pid() < second.pid() ? first : second).ended_by(), SIGTERM);
}

// A pod makes as many cgroups as it likes before the one with its processes.
TEST_F(ExecutorTest, AWalkThatFindsNoProcessEndsInTime) {
    const auto cgroup = std::make_shared<ManyEmptyCgroups>(clock_);
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::delivered);
    EXPECT_EQ(outcome.processes, 0);
    EXPECT_LT(cgroup->visited, 100);
    EXPECT_THAT(after_.victims, testing::ElementsAre(cgroup));
}

TEST_F(ExecutorTest, ARefusedKillIsAFailureWithItsReasonAndIsNotFollowedUp) {
    const auto cgroup = std::make_shared<ListedCgroup>([](int) { return std::vector<pid_t>{}; });
    cgroup->has_kill = true;
    cgroup->kill_result = fail(ErrorKind::not_permitted, "cgroup.kill", "no");
    const auto outcome = act_on(ActionKind::kill, cgroup);
    EXPECT_EQ(outcome.status, OutcomeStatus::failed);
    EXPECT_EQ(outcome.error, "cgroup.kill: no");
    EXPECT_TRUE(after_.victims.empty());
}

TEST_F(ExecutorTest, EveryActionHasItsOutcomeInOrder) {
    Child child;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    const std::vector<Action> actions{{ActionKind::kill, {"gone"}, "default/gone"},
                                      {ActionKind::kill, {"uid-7"}, "default/web"}};
    Executor executor(clock_, after_, false);
    const auto outcomes = executor.carry_out(actions, decided_at_, [&](const Action& action) {
        return action.pod.value == "gone" ? port::PodCgroupPtr{} : port::PodCgroupPtr(cgroup);
    });
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_EQ(outcomes[0].action.pod_name, "default/gone");
    EXPECT_EQ(outcomes[0].status, OutcomeStatus::vanished);
    EXPECT_EQ(outcomes[1].status, OutcomeStatus::delivered);
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

}  // namespace
}  // namespace evictd::act
