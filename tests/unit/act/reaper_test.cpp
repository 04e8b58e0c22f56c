// SPDX-License-Identifier: Apache-2.0
// In a thread of its own, so each test waits for what the reaper was last told: that nobody is left.
#include "act/reaper.hpp"

#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "child_processes.hpp"
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

TEST(ReaperTest, WhoeverIsLeftIsKilledWithoutTheFreezerAndWhatOthersFrozeIsThawed) {
    const sys::SystemClock clock;
    ForkChain chain(1);
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) { return chain.look(cgroup->frozen); });
    cgroup->frozen = true;  // by somebody else, before
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup);
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
    cgroup = std::make_shared<ListedCgroup>([&](int) { return chain.look(cgroup->frozen); });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup);
    EXPECT_TRUE(chain.wait_until_empty());
    reaper.reset();
    EXPECT_GE(cgroup->freezes, 1);
    EXPECT_EQ(cgroup->thaws, cgroup->freezes + 1);
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, WhatWasFrozenIsThawedAlsoWhenThePodCannotBeRead) {
    const sys::SystemClock clock;
    const Child first;
    const Child second;
    std::promise<void> told;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int look) -> Result<std::vector<pid_t>> {
        if (!cgroup->frozen) return pids({look < 2 ? &first : &second});  // somebody new in the second round
        if (cgroup->freezes == 1) return fail(ErrorKind::failed, "cgroup.procs", "cannot be read");
        told.set_value();
        return fail(ErrorKind::vanished, "/kubepods/pod7", "the cgroup is gone");
    });
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup);
    EXPECT_EQ(told.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_EQ(cgroup->freezes, 2);
    EXPECT_EQ(cgroup->thaws, 3) << "once before all, and after each freeze";
    EXPECT_FALSE(cgroup->frozen);
}

TEST(ReaperTest, WhereTheCgroupCanKillItIsAskedUntilNobodyIsLeftAndNothingIsFrozen) {
    const sys::SystemClock clock;
    const Child child;
    std::promise<void> twice;
    std::shared_ptr<ListedCgroup> cgroup;
    cgroup = std::make_shared<ListedCgroup>([&](int) -> Result<std::vector<pid_t>> {
        if (cgroup->kills < 2) return pids({&child});
        twice.set_value();  // a further look would throw
        return std::vector<pid_t>{};
    });
    cgroup->has_kill = true;
    auto reaper = make_reaper(clock);
    reaper->follow(cgroup);
    EXPECT_EQ(twice.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_GE(cgroup->kills, 2);
    EXPECT_EQ(cgroup->freezes + cgroup->thaws, 0);
    EXPECT_TRUE(child.alive()) << "signals are left to cgroup.kill";
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
    reaper->follow(cgroup);
    EXPECT_EQ(told.get_future().wait_for(long_enough), std::future_status::ready);
    reaper.reset();
    EXPECT_EQ(cgroup->looks, 1);
}

}  // namespace
}  // namespace evictd::act
