// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// That a tree goes with all that is in it and nothing else does, in bounded time, and what is left with the next call.
#include "disk/remove_tree.hpp"

#include <filesystem>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fakes/temp_dir.hpp"
#include "tree.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr MonotonicTime far{1000h};

// Each look takes a millisecond, and something may happen at it.
class TickingClock final : public sys::Clock {
public:
    [[nodiscard]] MonotonicTime monotonic() const override {
        if (at_tick) at_tick(ticks);
        return MonotonicTime{std::chrono::milliseconds(++ticks)};
    }
    [[nodiscard]] WallTime wall() const override { return {}; }
    [[nodiscard]] Duration thread_cpu() const override { return {}; }
    std::function<void(int)> at_tick;
    mutable int ticks = 0;
};

class RemoveTreeTest : public testing::Test {
protected:
    [[nodiscard]] Result<TreeRemoval> remove(MonotonicTime deadline = far, std::size_t most_levels = default_levels) {
        return remove_tree(root.get(), "tree", clock, deadline, most_levels);
    }
    [[nodiscard]] MonotonicTime in(Duration time) const {
        return MonotonicTime{std::chrono::milliseconds(clock.ticks)} + time;
    }
    [[nodiscard]] bool is_there(const std::string& below) const {
        return fs::exists(fs::symlink_status(dir.path() + "/" + below));
    }
    // A chain of directories, each with a file beside it.
    void make_chain(int levels) const {
        auto at = make_directory(root, "tree");
        for (int i = 0; i < levels; ++i) {
            make_file(at, "file", 0);
            at = make_directory(at, "d");
        }
    }
    DeepDir dir;
    sys::Fd root = open_tree(dir.path());
    TickingClock clock;
};

TEST_F(RemoveTreeTest, AllOfItGoes) {
    const auto top = make_directory(root, "tree");
    for (int i = 0; i < 3000; ++i) {
        const auto below = make_directory(top, "d" + std::to_string(i));
        if (i % 2 == 0) make_file(below, "\n\xff", 0);
    }
    const auto removal = remove();
    ASSERT_TRUE(removal);
    EXPECT_TRUE(removal->is_done);
    EXPECT_EQ(removal->removed, 1U + 3000U + 1500U);
    EXPECT_FALSE(is_there("tree"));
    EXPECT_EQ(remove().error().kind, ErrorKind::vanished);
}

TEST_F(RemoveTreeTest, ItEndsInTimeAndTheNextCallGoesOn) {
    const auto top = make_directory(root, "tree");
    for (int i = 0; i < 5000; ++i) make_file(top, std::to_string(i), 0);
    std::uint64_t removed = 0;
    int calls = 0;
    for (bool is_done = false; !is_done; ++calls) {
        const auto began = clock.ticks;
        const auto removal = remove(in(1000ms));
        ASSERT_TRUE(removal);
        EXPECT_LE(clock.ticks - began, 1001);
        EXPECT_TRUE(removal->is_done || removal->removed > 900) << removal->removed;
        EXPECT_EQ(is_there("tree"), !removal->is_done);
        removed += removal->removed;
        is_done = removal->is_done;
    }
    EXPECT_EQ(removed, 5001U);
    EXPECT_EQ(calls, 6);
}

// Going up costs as much as going down: with the path anew for each level this would be 50 million system calls.
TEST_F(RemoveTreeTest, ADeepTreeTakesTimeInProportion) {
    make_chain(10'000);
    const auto removal = remove(in(100s));
    ASSERT_TRUE(removal) << removal.error().text();
    EXPECT_TRUE(removal->is_done);
    EXPECT_EQ(removal->removed, 20'001U);
}

// Nobody who goes down step by step is kept from making one that is deeper than names are kept in memory.
TEST_F(RemoveTreeTest, OneOfAnyDepthGoes) {
    for (const int levels : {99, 100, 101, 1000, 3333}) {
        make_chain(levels);
        const auto removal = remove(far, 100);
        ASSERT_TRUE(removal) << removal.error().text();
        EXPECT_TRUE(removal->is_done);
        EXPECT_EQ(removal->removed, static_cast<std::uint64_t>(2 * levels + 1));
        EXPECT_FALSE(is_there("tree"));
    }
}

TEST_F(RemoveTreeTest, OneThatIsTooDeepToGoAtOnceGoesInSeveralCalls) {
    make_chain(5000);
    int calls = 1;
    for (; calls < 100; ++calls) {
        const auto removal = remove(in(500ms), 100);
        ASSERT_TRUE(removal) << removal.error().text();
        if (removal->is_done) break;
    }
    EXPECT_GT(calls, 2);
    EXPECT_LT(calls, 100) << "each call begins where names are kept";
    EXPECT_FALSE(is_there("tree"));
}

TEST_F(RemoveTreeTest, ADeepOneThatIsMovedAwayMeanwhileIsLeftWhereItIs) {
    make_chain(300);
    clock.at_tick = [&](int tick) {
        if (tick == 50) fs::rename(dir.path() + "/tree", dir.path() + "/moved");
    };
    const auto removal = remove(far, 100);
    clock.at_tick = nullptr;
    ASSERT_TRUE(removal) << removal.error().text();
    EXPECT_TRUE(removal->is_done);
    EXPECT_TRUE(is_there("moved/d/d/d"));
}

TEST_F(RemoveTreeTest, OneThatGrowsAllTheTimeEnds) {
    const auto top = make_directory(root, "tree");
    clock.at_tick = [&](int tick) { make_file(top, "new-" + std::to_string(tick), 0); };
    const auto removal = remove(in(500ms));
    clock.at_tick = nullptr;
    ASSERT_TRUE(removal);
    EXPECT_FALSE(removal->is_done);
    ASSERT_TRUE(remove());
    EXPECT_FALSE(is_there("tree"));
}

TEST_F(RemoveTreeTest, WhatWasMovedOutOfItIsLeftAndSoIsWhereItIsNow) {
    make_chain(20);
    const auto elsewhere = make_directory(root, "elsewhere");
    make_file(elsewhere, "precious", 0);
    clock.at_tick = [&](int tick) {
        if (tick == 25) fs::rename(dir.path() + "/tree/d/d/d", dir.path() + "/elsewhere/moved");
    };
    const auto removal = remove();
    ASSERT_TRUE(removal) << removal.error().text();
    EXPECT_TRUE(removal->is_done);
    EXPECT_FALSE(is_there("tree"));
    EXPECT_TRUE(is_there("elsewhere/moved"));
    EXPECT_TRUE(is_there("elsewhere/precious"));
}

// The kernel gives the number of a directory that is gone to the next one that is made; not in memory.
TEST_F(RemoveTreeTest, WhereItWasMovedToIsLeftAlsoIfThatHasTheNumberOfWhereItWas) {
    const fakes::TempDir disk;
    for (const auto* name : {"tree", "tree/a", "tree/a/b", "outside"}) fs::create_directory(disk / name);
    for (const auto* name : {"one", "two"}) disk.write(std::string("tree/a/b/") + name, "");
    const auto number_of_inode = [&](const std::string& below) {
        struct stat status {};
        return ::stat((disk / below).c_str(), &status) == 0 ? status.st_ino : 0;
    };
    const auto number = number_of_inode("tree/a");
    bool has_number = false;
    clock.at_tick = [&](int) {
        if (fs::exists(disk / "tree/a/b/one") == fs::exists(disk / "tree/a/b/two")) return;
        fs::rename(disk / "tree/a/b", disk / "outside/b");
        fs::remove(disk / "tree/a");
        for (int i = 0; i < 64 && !has_number; ++i) {
            const auto made = "outside/" + std::to_string(i);
            fs::create_directory(disk / made);
            has_number = number_of_inode(made) == number;
            if (has_number) fs::rename(disk / made, disk / "outside/x");
        }
        if (!has_number) return;
        disk.write("outside/x/dear", "");
        fs::rename(disk / "outside/b", disk / "outside/x/b");
    };
    const auto top = open_tree(disk.path());
    EXPECT_TRUE(remove_tree(top.get(), "tree", clock, far));
    if (!has_number) GTEST_SKIP() << "this filesystem gives other numbers";
    EXPECT_TRUE(fs::exists(disk / "outside/x/dear"));
}

TEST_F(RemoveTreeTest, LinksAreRemovedAndNotFollowed) {
    const auto top = make_directory(root, "tree");
    const auto elsewhere = make_directory(root, "elsewhere");
    make_file(elsewhere, "precious", 0);
    fs::create_directory_symlink(dir.path() + "/elsewhere", dir.path() + "/tree/link");
    fs::create_directory_symlink("..", dir.path() + "/tree/up");
    ASSERT_TRUE(remove());
    EXPECT_FALSE(is_there("tree"));
    EXPECT_TRUE(is_there("elsewhere/precious"));
    fs::create_directory_symlink(dir.path() + "/elsewhere", dir.path() + "/tree");
    EXPECT_EQ(remove().error().kind, ErrorKind::invalid);
    EXPECT_TRUE(is_there("elsewhere/precious"));
}

}  // namespace
}  // namespace evictd::disk
