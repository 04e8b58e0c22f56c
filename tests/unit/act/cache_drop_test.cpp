// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Victims whose page cache is dropped now, later, or never.
#include "act/cache_drop.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "child_processes.hpp"
#include "fakes/fake_clock.hpp"

namespace evictd::act {
namespace {

using namespace std::chrono_literals;

// What is said of the page cache, one answer an ask; the last one again and again.
class CacheCgroup final : public port::PodCgroup {
public:
    explicit CacheCgroup(std::vector<bool> answers) : answers_(std::move(answers)) {}
    [[nodiscard]] CgroupId id() const override { return {7}; }
    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] Result<std::vector<pid_t>> processes() const override { return std::vector<pid_t>{}; }
    Status each_batch(port::Listing /*listing*/,
                      const std::function<bool(const port::ProcessBatch&)>& /*visit*/) const override {
        return {};
    }
    [[nodiscard]] Result<bool> holds_us() const override { return false; }
    [[nodiscard]] bool surely_empty() const override { return true; }
    [[nodiscard]] Result<std::int64_t> tasks() const override { return 0; }
    [[nodiscard]] Result<bool> populated() const override { return false; }
    [[nodiscard]] Result<HeldMemory> held_memory() const override { return HeldMemory{}; }
    [[nodiscard]] bool can_kill() const override { return false; }
    [[nodiscard]] Status kill() const override { return {}; }
    [[nodiscard]] bool can_freeze() const override { return false; }
    [[nodiscard]] Status freeze() const override { return {}; }
    [[nodiscard]] Status thaw() const override { return {}; }
    [[nodiscard]] Result<bool> drop_cache() const override {
        const auto at = static_cast<std::size_t>(asked.load());
        in_kernel = true;
        if (hangs) hangs->get_future().wait();
        const bool answer = answers_.at(std::min(at, answers_.size() - 1));
        ++asked;
        return answer;
    }
    mutable std::atomic<int> asked = 0;
    mutable std::atomic<bool> in_kernel = false;
    std::shared_ptr<std::promise<void>> hangs;  // until it is set

private:
    std::string path_ = "/kubepods/pod7";
    std::vector<bool> answers_;
};

struct CacheDrops : testing::Test {
    CacheDrops() { clock.set(MonotonicTime(1h)); }
    // The lane's thread asks; a task that was posted is over before the next second.
    void await(const CacheCgroup& victim, int asked) const {
        const auto until = std::chrono::steady_clock::now() + 20s;
        while (victim.asked < asked && std::chrono::steady_clock::now() < until) std::this_thread::yield();
        ASSERT_EQ(victim.asked, asked);
    }
    void second() {
        clock.advance(1s);
        drops->try_again();
    }
    fakes::FakeClock clock;
    std::unique_ptr<CacheDrop> drops = std::move(*CacheDrop::make(clock));
};

TEST_F(CacheDrops, AVictimIsAskedAtOnceAndNoMoreOnceItWas) {
    const auto victim = std::make_shared<CacheCgroup>(std::vector{true});
    EXPECT_FALSE(drops->due());
    drops->add(victim);
    ASSERT_TRUE(drops->due());
    EXPECT_EQ(*drops->due(), clock.monotonic() + 1s);
    await(*victim, 1);
    while (drops->due()) second();
    EXPECT_EQ(victim->asked, 1);
}

TEST_F(CacheDrops, OneThatIsNotWrittenBackIsAskedAgainEverySecond) {
    const auto victim = std::make_shared<CacheCgroup>(std::vector{false, false, true});
    drops->add(victim);
    await(*victim, 1);
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (victim->asked < 3 && std::chrono::steady_clock::now() < until) {
        drops->try_again();  // it may come before a task has said that it is over
        std::this_thread::yield();
    }
    while (drops->due()) second();
    EXPECT_EQ(victim->asked, 3);
}

TEST_F(CacheDrops, ItIsGivenUpAfterHalfAMinute) {
    const auto victim = std::make_shared<CacheCgroup>(std::vector{false});
    drops->add(victim);
    for (int seconds = 0; seconds < 29; seconds++) second();
    EXPECT_TRUE(drops->due());
    second();
    EXPECT_FALSE(drops->due());
}

TEST_F(CacheDrops, OneThatHangsIsAskedOnceAndHoldsUpNoEnd) {
    const auto victim = std::make_shared<CacheCgroup>(std::vector{true});
    auto go_on = std::make_shared<std::promise<void>>();
    victim->hangs = go_on;
    drops->add(victim);
    while (!victim->in_kernel) std::this_thread::yield();
    for (int seconds = 0; seconds < 10; seconds++) second();
    const auto begin = std::chrono::steady_clock::now();
    drops.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    go_on->set_value();
    await(*victim, 1);
    while (victim.use_count() > 1) std::this_thread::yield();
    EXPECT_EQ(victim->asked, 1);
}

}  // namespace
}  // namespace evictd::act
