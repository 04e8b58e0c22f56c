// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// In a thread of its own, so each test waits for what the reaper was last told: that nobody is left.
#include "act/reaper.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_processes.hpp"
#include "fakes/few_descriptors.hpp"
#include "fakes/temp_dir.hpp"
#include "reconcile/held_rungs.hpp"
#include "sys/clock.hpp"

namespace evictd::act {
namespace {

constexpr auto long_enough = std::chrono::seconds(20);

// A pod in which somebody forks at each look; not while it is frozen, and then everybody is listed and struck.
class ForkChain {
public:
    explicit ForkChain(int generations) : left_(generations) { grow(); }

    std::vector<pid_t> look(bool frozen) {
        if (frozen) {
            left_ = 0;
        } else if (left_ > 0) {
            grow();
        }
        std::vector<pid_t> alive;
        for (const auto& child : children_) {
            if (child->alive()) alive.push_back(child->pid());
        }
        if (alive.empty() && left_ == 0 && !told_) {
            told_ = true;
            empty_.set_value();
        }
        return alive;
    }
    [[nodiscard]] bool wait_until_empty() {
        return empty_.get_future().wait_for(long_enough) == std::future_status::ready;
    }

private:
    void grow() {
        left_--;
        children_.push_back(std::make_unique<Child>());
    }
    int left_;
    bool told_ = false;
    std::vector<std::unique_ptr<Child>> children_;
    std::promise<void> empty_;
};

std::unique_ptr<Reaper> make_reaper(const sys::Clock& clock) {
    auto made = Reaper::make(clock);
    EXPECT_TRUE(made);
    return made ? std::move(*made) : nullptr;
}

// A round is noted when it is over.
KillRounds rounds_when_frozen(const Reaper& reaper, CgroupId victim) {
    const auto deadline = std::chrono::steady_clock::now() + long_enough;
    while (std::chrono::steady_clock::now() < deadline) {
        if (const auto rounds = reaper.rounds_of(victim); rounds && rounds->frozen > 0) return *rounds;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

TEST(ReaperTest, LeftProcessesAreKilledWithoutTheFreezerAndWhatOthersFrozeIsThawed) {
    const sys::SystemClock clock;
    ForkChain chain(1);
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        auto listed = chain.look(cgroup->frozen);
        cgroup->counted_empty = listed.empty();
        return listed;
    });
    cgroup->frozen = true;  // by somebody else, before
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_TRUE(chain.wait_until_empty());
    reaper.reset();
    EXPECT_EQ(cgroup->freezes, 0);
    EXPECT_EQ(cgroup->thaws, 1);
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, APodThatForksIsFrozenForTheNextStrikeAndThawedAfterIt) {
    const sys::SystemClock clock;
    ForkChain chain(1000);
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        auto listed = chain.look(cgroup->frozen);
        cgroup->counted_empty = listed.empty();
        return listed;
    });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_TRUE(chain.wait_until_empty());
    const auto rounds = rounds_when_frozen(*reaper, cgroup->id());
    EXPECT_TRUE(rounds.appeared);
    EXPECT_GE(rounds.frozen, 1);
    EXPECT_GT(rounds.rounds, rounds.frozen);
    reaper.reset();
    EXPECT_GE(cgroup->freezes, 1);
    EXPECT_EQ(cgroup->thaws, cgroup->freezes + 1);
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, APodThatWasChosenForItsForksIsFrozenForTheFirstStrike) {
    const sys::SystemClock clock;
    const Child child;
    std::vector<bool> was_frozen;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        was_frozen.push_back(cgroup->frozen);
        cgroup->counted_empty = !child.alive();
        return child.alive() ? pids({&child}) : std::vector<pid_t>{};
    });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, true);
    const auto rounds = rounds_when_frozen(*reaper, cgroup->id());
    reaper.reset();
    EXPECT_EQ(rounds.frozen, 1);
    ASSERT_FALSE(was_frozen.empty());
    EXPECT_TRUE(was_frozen.front());
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, WhatWasFrozenIsThawedAlsoWhenThePodCannotBeReadAndThePursuitGoesOn) {
    const sys::SystemClock clock;
    const Child first;
    const Child second;
    std::promise<void> told;
    std::shared_ptr<ListedCgroup> cgroup;
    std::atomic<int> unfrozen = 0;
    cgroup = std::make_shared<ListedCgroup>([&](int) -> Result<std::vector<pid_t>> {
        if (!cgroup->frozen) return pids({unfrozen++ < 2 ? &first : &second});  // another one in the second round
        if (cgroup->freezes == 1) return fail(ErrorKind::failed, "cgroup.procs", "cannot be read");
        told.set_value();
        return fail(ErrorKind::vanished, "/kubepods/pod7", "the cgroup is gone");
    });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_EQ(told.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_EQ(cgroup->freezes, 2);
    EXPECT_EQ(cgroup->thaws, 3) << "once before all, and after each freeze";
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, WithCgroupKillItIsWrittenUntilTheCgroupIsEmptyAndNothingIsFrozen) {
    const sys::SystemClock clock;
    Child child;
    std::promise<void> often;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        if (cgroup->kills == 6 && !cgroup->counted_empty) {
            cgroup->counted_empty = true;
            often.set_value();
        }
        return cgroup->kills < 2 ? pids({&child}) : std::vector<pid_t>{};  // an empty list is not the kernel's word
    });
    cgroup->has_kill = true;
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_EQ(often.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_EQ(cgroup->kills, 6);
    EXPECT_EQ(cgroup->freezes + cgroup->thaws, 0);
    EXPECT_TRUE(cgroup->thorough) << "from the second round on, those too that cgroup.procs does not name";
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

// cgroup.kill may wait for the kernel's cgroup_mutex, and the victim's memory would come later.
TEST(ReaperTest, TheFirstRoundStrikesBeforeItKillsTheCgroup) {
    const sys::SystemClock clock;
    Child child;
    std::promise<void> over;
    bool told = false;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        if (cgroup->kills > 0 && !std::exchange(told, true)) over.set_value();
        return pids({&child});
    });
    cgroup->has_kill = true;
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_EQ(over.get_future().wait_for(long_enough), std::future_status::ready);
    const int looks_of_a_strike = 2;
    EXPECT_GE(cgroup->looks_at_kill, looks_of_a_strike);
    reaper.reset();
    EXPECT_EQ(child.ended_by(), SIGKILL);
}

// A process that is never where the list is read, until nothing moves any more.
TEST(ReaperTest, APodThatListsNoProcessThoughTheKernelCountsSomeIsFrozenAndStruck) {
    const sys::SystemClock clock;
    Child child;
    std::promise<void> dead;
    bool told = false;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        if (!child.alive() && !std::exchange(told, true)) {
            cgroup->counted_empty = true;
            dead.set_value();
        }
        return cgroup->frozen && child.alive() ? pids({&child}) : std::vector<pid_t>{};
    });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_EQ(dead.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_EQ(child.ended_by(), SIGKILL);
    EXPECT_GE(cgroup->freezes, 1);
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, AnEmptyListUnderTheFreezerIsProofThoughZombiesAreCounted) {
    const sys::SystemClock clock;
    const auto cgroup = std::make_shared<ListedCgroup>([](int) { return std::vector<pid_t>{}; });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    const auto until = clock.monotonic() + long_enough;
    while (cgroup->thaws < 2 && clock.monotonic() < until) std::this_thread::yield();
    reaper.reset();
    EXPECT_EQ(cgroup->freezes, 1);
    EXPECT_EQ(cgroup->thaws, 2);
}

// While it is frozen the file names it, and with the thaw the file goes.
TEST(ReaperTest, AFreezeIsWrittenDownBeforeAndForgottenAfter) {
    const sys::SystemClock clock;
    const fakes::TempDir directory;
    const auto path = (directory.path() / "rungs").string();
    std::vector<reconcile::HeldRung> during;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([](int) { return std::vector<pid_t>{}; });
    cgroup->on_freeze = [&] {
        during = reconcile::remembered_held(reconcile::victims_path(path)).value_or(reconcile::HeldLedger{}).held;
    };
    auto made = Reaper::make(clock, path);
    ASSERT_TRUE(made);
    (*made)->follow(cgroup, false);
    const auto until = clock.monotonic() + long_enough;
    while (cgroup->thaws < 2 && clock.monotonic() < until) std::this_thread::yield();
    made->reset();
    ASSERT_EQ(during.size(), 1U);
    EXPECT_EQ(during.front().kind, RungKind::freeze);
    EXPECT_EQ(during.front().place, (port::CgroupPlace{cgroup->path(), cgroup->id()}));
    EXPECT_TRUE(
        reconcile::remembered_held(reconcile::victims_path(path)).value_or(reconcile::HeldLedger{}).held.empty());
}

// None: a second evictd beside one that has the ledger.
TEST(ReaperTest, WhatCannotBeWrittenDownIsNotFrozen) {
    const sys::SystemClock clock;
    for (const auto& ledger : {std::optional<std::string>("/proc/no/such/rungs"), std::optional<std::string>()}) {
        const auto cgroup = std::make_shared<ListedCgroup>([](int look) {
            return look < 20 ? Result<std::vector<pid_t>>() : fail(ErrorKind::vanished, "/kubepods/pod7", "gone");
        });
        auto made = Reaper::make(clock, ledger);
        ASSERT_TRUE(made);
        (*made)->follow(cgroup, false);
        const auto until = clock.monotonic() + long_enough;
        while (cgroup->looks < 21 && clock.monotonic() < until) std::this_thread::yield();
        made->reset();
        EXPECT_EQ(cgroup->looks, 21);
        EXPECT_EQ(cgroup->freezes, 0) << ledger.value_or("none");
    }
}

// The first one that the lane has: nothing that it takes may be missing then.
TEST(ReaperTest, APursuitIsKeptWhereNoDescriptorIsLeft) {
    const sys::SystemClock clock;
    Child child;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) {
        cgroup->counted_empty = !child.alive();
        return cgroup->counted_empty ? std::vector<pid_t>{} : pids({&child});
    });
    auto reaper = make_reaper(clock);
    const auto until = clock.monotonic() + long_enough;
    {
        const fakes::FewDescriptors none(0);
        reaper->follow(cgroup, false);
        while (cgroup->looks < 2 && clock.monotonic() < until) std::this_thread::yield();
    }
    while (child.alive() && clock.monotonic() < until) std::this_thread::yield();
    EXPECT_FALSE(child.alive());
    reaper.reset();
}

// As process_mrelease(2) of a victim that keeps its address space locked.
TEST(ReaperTest, AReleaseOfMemoryThatDoesNotEndHoldsUpNoVictim) {
    const sys::SystemClock clock;
    std::promise<void> go_on;
    const auto gone_on = go_on.get_future().share();
    std::atomic<int> released = 0;
    struct Victim {
        Child child;
        std::promise<void> empty;
        std::shared_ptr<ListedCgroup> cgroup;
    };
    std::array<Victim, 3> victims;  // the reaper looks at them until it ends
    auto made = Reaper::make(clock, "", [&](const HeldProcess&) {
        released++;
        gone_on.wait();
        return true;
    });
    ASSERT_TRUE(made);
    for (auto& victim : victims) {
        victim.cgroup = std::make_shared<ListedCgroup>([&](int) {
            const bool is_alive = victim.child.alive();
            if (!is_alive && !victim.cgroup->counted_empty.exchange(true)) victim.empty.set_value();
            return is_alive ? pids({&victim.child}) : std::vector<pid_t>{};
        });
        (*made)->follow(victim.cgroup, false);
        EXPECT_EQ(victim.empty.get_future().wait_for(long_enough), std::future_status::ready);
    }
    EXPECT_EQ(released, 1);
    go_on.set_value();
    made->reset();
}

// A child that stays in the list until it was asked to exit as others do again.
TEST(ReaperTest, WhatExitsSlowlyExitsFirstForASecond) {
    const sys::SystemClock clock;
    const Child child;
    int first = 0;
    int looks_at_first = 0;
    MonotonicTime put_back;
    std::promise<void> normal;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) { return pids({&child}); });
    const auto prioritize = [&](const HeldProcess& process, ExitPriority priority) {
        EXPECT_EQ(process.pid, child.pid());
        if (priority == ExitPriority::first) {
            if (first++ == 0) looks_at_first = cgroup->looks;
        } else if (!cgroup->counted_empty.exchange(true)) {
            put_back = clock.monotonic();
            normal.set_value();
        }
        return false;
    };
    auto made = Reaper::make(
        clock, "", [](const HeldProcess&) { return true; }, 1, prioritize);
    ASSERT_TRUE(made);
    const auto begun = clock.monotonic();
    (*made)->follow(cgroup, false);
    EXPECT_EQ(normal.get_future().wait_for(long_enough), std::future_status::ready);
    made->reset();
    EXPECT_GE(first, 1);
    EXPECT_GE(put_back - begun, std::chrono::seconds(1));
    EXPECT_GE(looks_at_first, 4) << "two looks a round, and not in the first";
}

// As under SCHED_DEADLINE, before the thread that kills. Also where each is in a batch of its own, as with a container
// for each.
class ReaperPriorityTest : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Batches, ReaperPriorityTest, ::testing::Values(1, 1000));

TEST_P(ReaperPriorityTest, WhatExitsBeforeEvictdLeavesItACpu) {
    const sys::SystemClock clock;
    const auto cpus = std::max(2U, std::thread::hardware_concurrency());
    const std::vector<Child> children(cpus);
    std::vector<pid_t> listed;
    listed.reserve(children.size());
    for (const auto& child : children) listed.push_back(child.pid());
    std::sort(listed.begin(), listed.end());
    std::set<pid_t> before_us;
    std::size_t most = 0;
    const int enough = 12 * static_cast<int>(cpus);  // rounds, all within the second
    std::atomic<int> calls = 0;
    const auto cgroup = std::make_shared<ListedCgroup>([&](int) { return listed; });
    cgroup->batch = GetParam();
    const auto prioritize = [&](const HeldProcess& process, ExitPriority priority) {
        if (priority == ExitPriority::first) {
            before_us.insert(process.pid);
        } else {
            before_us.erase(process.pid);
        }
        most = std::max(most, before_us.size());
        if (++calls == enough) cgroup->counted_empty = true;
        return priority == ExitPriority::first;
    };
    auto made = Reaper::make(
        clock, "", [](const HeldProcess&) { return true; }, 1, prioritize);
    ASSERT_TRUE(made);
    (*made)->follow(cgroup, false);
    const auto until = clock.monotonic() + long_enough;
    while (calls < enough && clock.monotonic() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    made->reset();
    EXPECT_EQ(most, cpus - 1);
}

// The lane that would have it give way is busy with another victim.
TEST(ReaperTest, AReleaseGivesWayInTimeThoughTheReaperIsBusy) {
    const sys::SystemClock clock;
    std::atomic<pid_t> releasing = 0;
    std::atomic<bool> enough = false;
    auto made = Reaper::make(
        clock, "",
        [&](const HeldProcess&) {
            releasing = ::gettid();
            while (!enough) {}
            return true;
        },
        3, [](const HeldProcess&, ExitPriority) { return false; });
    ASSERT_TRUE(made);
    std::promise<void> walking;
    std::atomic<int> looks = 0;
    const auto slow = std::make_shared<ListedCgroup>([&](int) -> Result<std::vector<pid_t>> {
        if (looks++ == 0) walking.set_value();
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        return fail(ErrorKind::vanished, "/kubepods/pod7", "gone");
    });
    (*made)->follow(slow, false);
    walking.get_future().wait();
    Child child;
    std::vector<HeldProcess> doomed;
    doomed.push_back(hold(child.pid()));
    (*made)->expect(doomed);
    (void)::kill(child.pid(), SIGKILL);
    const auto victim = std::make_shared<ListedCgroup>([&](int) { return std::vector<pid_t>{}; });
    victim->counted_empty = true;
    (*made)->follow(victim, false);
    while (releasing == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    const int policy = ::sched_getscheduler(releasing);
    enough = true;
    made->reset();
    EXPECT_EQ(policy & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
}

// Of this thread, and of those that it makes.
void give_up_cap_kill() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    ASSERT_EQ(::syscall(SYS_capget, &header, sets.data()), 0);
    sets[0].effective &= ~(1U << CAP_KILL);
    ASSERT_EQ(::syscall(SYS_capset, &header, sets.data()), 0);
}

TEST(ReaperTest, WhatTheSignalDidNotReachStaysAsItIs) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const pid_t other = ::fork();
    if (other == 0) {
        if (::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
        (void)::raise(SIGSTOP);
        ::_exit(0);
    }
    ASSERT_EQ(::waitpid(other, nullptr, WUNTRACED), other);
    std::atomic<int> prioritized = 0;
    std::thread([&] {
        give_up_cap_kill();
        const sys::SystemClock clock;
        std::promise<void> looked;
        std::shared_ptr<ListedCgroup> cgroup;
        cgroup = std::make_shared<ListedCgroup>([&](int look) {
            if (look == 8) {
                cgroup->counted_empty = true;
                looked.set_value();
            }
            return std::vector<pid_t>{other};
        });
        auto made = Reaper::make(
            clock, "", [](const HeldProcess&) { return true; }, 1,
            [&](const HeldProcess&, ExitPriority) { return prioritized++ < 0; });
        ASSERT_TRUE(made);
        (*made)->follow(cgroup, false);
        EXPECT_EQ(looked.get_future().wait_for(long_enough), std::future_status::ready);
        made->reset();
    }).join();
    EXPECT_EQ(prioritized, 0);
    EXPECT_EQ(::waitpid(other, nullptr, WNOHANG), 0) << "it lives";
    (void)::kill(other, SIGKILL);
    (void)::waitpid(other, nullptr, 0);
}

TEST(ReaperTest, WithoutAPriorityOfOurOwnTheDyingHaveNoneEither) {
    const sys::SystemClock clock;
    const Child child;
    std::promise<void> looked;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int look) {
        if (look == 8) {
            cgroup->counted_empty = true;
            looked.set_value();
        }
        return pids({&child});
    });
    auto made = Reaper::make(
        clock, "", [](const HeldProcess&) { return true; }, 0,
        [](const HeldProcess&, ExitPriority) {
            ADD_FAILURE() << "prioritized";
            return false;
        });
    ASSERT_TRUE(made);
    (*made)->follow(cgroup, false);
    EXPECT_EQ(looked.get_future().wait_for(long_enough), std::future_status::ready);
    made->reset();
}

TEST(ReaperTest, ARemovedCgroupEndsThePursuit) {
    const sys::SystemClock clock;
    std::promise<void> told;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) -> Result<std::vector<pid_t>> {
        told.set_value();  // a second look would throw
        return fail(ErrorKind::vanished, "/kubepods/pod7", "the cgroup is gone");
    });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup, false);
    EXPECT_EQ(told.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_EQ(cgroup->looks, 1);
}

}  // namespace
}  // namespace evictd::act
