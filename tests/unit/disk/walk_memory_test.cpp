// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a walk holds of memory, in trees that are as wide and deep as a pod makes them.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <malloc.h>

#include "disk/pending_names.hpp"
#include "disk/walk.hpp"
#include "unit/disk/tree.hpp"

namespace evictd::disk {
namespace {

// Names as long as they may be, so that few directories are a lot of names.
std::string long_name(int number) { return std::to_string(number) + std::string(250, 'x'); }

// In each directory on the way down `width` others. The next level is below the last but one that is entered: above
// that all names are done with but one. Entries are entered in the order of their inodes.
void make_ladder(const sys::Fd& root, int width, int levels) {
    auto at = sys::Fd(::dup(root.get()));
    for (int level = 0; level < levels; ++level) {
        sys::Fd next;
        for (int i = 0; i < width; ++i) {
            auto made = make_directory(at, long_name(i));
            if (i == width - 2) next = std::move(made);
        }
        at = std::move(next);
    }
}

struct Watched {
    TreeUsage usage;
    std::size_t most = 0;  // bytes, more than before it
};

Watched watch(const std::string& path, const WalkLimits& limits) {
    Watched watched;
    const std::size_t before = ::mallinfo2().uordblks;
    const auto look = [&](std::uint64_t /*entries*/) {
        watched.most = std::max(watched.most, ::mallinfo2().uordblks - before);
        return true;
    };
    watched.usage = walk(open_tree(path), {.depth = Depth::whole_tree, .limits = limits}, look);
    return watched;
}

constexpr WalkLimits narrow{.open_directories = 4, .names = 16 << 10, .most_names = 256 << 10, .directories = 0};
constexpr std::size_t apart_from_names = 256 << 10;  // the walk itself, a buffer of entries, and levels

// With the memory of names that were entered long ago each level held 25 KiB: 7.5 MiB.
TEST(WalkMemory, OfNamesThatWereEnteredLongAgoNothingIsHeld) {
    const DeepDir dir;
    make_ladder(open_tree(dir.path()), 100, 300);
    const auto watched = watch(dir.path(), narrow);
    EXPECT_TRUE(watched.usage.complete) << watched.usage.trouble;
    EXPECT_EQ(watched.usage.inodes, 1 + 100 * 300);
    EXPECT_LT(watched.most, narrow.most_names + apart_from_names);
}

TEST(WalkMemory, MoreNamesThanMayBeHeldMakeItIncompleteAndNoMore) {
    const DeepDir dir;
    make_ladder(open_tree(dir.path()), 3, 2000);
    const auto watched = watch(dir.path(), narrow);
    EXPECT_FALSE(watched.usage.complete);
    EXPECT_THAT(watched.usage.trouble, testing::HasSubstr("than are remembered"));
    EXPECT_GT(watched.usage.inodes, 1000);
    EXPECT_LT(watched.most, narrow.most_names + 2 * apart_from_names);
}

TEST(PendingNames, GiveBackWhatWasDropped) {
    PendingNames names;
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(names.add(long_name(i).c_str(), 1 << 20));
    EXPECT_LT(names.held(), std::size_t{3 * 1000 * 256});
    for (int i = 0; i < 999; ++i) {
        ASSERT_EQ(names.front(), long_name(i));
        ASSERT_FALSE(names.has_one());
        names.drop_front();
        ASSERT_LE(names.held(), std::size_t{3 * 256} * static_cast<std::size_t>(999 - i));
    }
    ASSERT_EQ(names.front(), long_name(999));
    names.drop_front();
    EXPECT_TRUE(names.empty());
    EXPECT_EQ(names.held(), 0U);
}

TEST(PendingNames, TakeNoMoreThanIsAllowed) {
    PendingNames names;
    ASSERT_TRUE(names.add("a", 1000));
    const auto held = names.held();
    EXPECT_TRUE(names.add("b", 0)) << "there is room";
    EXPECT_FALSE(names.add(long_name(1).c_str(), 200));
    EXPECT_EQ(names.held(), held);
    EXPECT_TRUE(names.add(long_name(1).c_str(), 300));
    EXPECT_LE(names.held(), held + 300);
}

}  // namespace
}  // namespace evictd::disk
