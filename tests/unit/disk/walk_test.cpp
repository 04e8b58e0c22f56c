// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/walk.hpp"

#include <atomic>
#include <random>
#include <thread>

#include <dirent.h>
#include <gmock/gmock.h>
#include <sys/fsuid.h>
#include <sys/resource.h>

#include "fakes/temp_dir.hpp"
#include "unit/disk/tree.hpp"

namespace evictd::disk {
namespace {

const GoOn always = [](std::uint64_t /*entries*/) { return true; };

TreeUsage walk_of(const std::string& path, const WalkLimits& limits = {}) {
    return walk(open_tree(path), {.depth = Depth::whole_tree, .limits = limits}, always);
}

void expect_as_du(const std::string& path, const WalkLimits& limits = {}) {
    const auto expected = du(path);
    const auto found = walk_of(path, limits);
    EXPECT_TRUE(found.complete) << found.trouble;
    EXPECT_EQ(found.used.value, expected.bytes);
    EXPECT_EQ(found.inodes, expected.inodes);
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir("/proc/self/fd"), ::closedir);
    while (::readdir(listing.get()) != nullptr) ++count;
    return count;
}

// A directory with `width` directories and files in each, `depth` levels down.
void make_bush(const sys::Fd& at, int width, int depth) {
    for (int i = 0; i < width; ++i) {
        make_file(at, "file" + std::to_string(i), 5000);
        if (depth > 0) make_bush(make_directory(at, "directory" + std::to_string(i)), width, depth - 1);
    }
}

TEST(Walk, AnEmptyDirectoryIsItself) {
    const fakes::TempDir dir;
    expect_as_du(dir.path());
    EXPECT_EQ(walk_of(dir.path()).inodes, 1);
}

TEST(Walk, AFileIsCountedItself) {
    const fakes::TempDir dir;
    make_file(open_tree(dir.path()), "etc-hosts", 5000);
    const auto found = walk(sys::Fd(::open((dir / "etc-hosts").c_str(), O_PATH | O_CLOEXEC)), {}, always);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.inodes, 1);
    EXPECT_EQ(found.used.value, du(dir / "etc-hosts").bytes);
}

TEST(Walk, NamesMayBeAnyBytes) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    const auto below = make_directory(root, "line\nbreak \xff\xfe\xc0");
    make_file(below, "\n", 4096);
    make_file(below, "\xed\xa0\x80 \x01\x7f'\"\\", 8192);
    make_file(below, std::string(255, '\xf0'), 4096);
    expect_as_du(dir.path());
    EXPECT_EQ(walk_of(dir.path()).inodes, 5);
}

TEST(Walk, SparseFilesCountWhatIsAllocated) {
    const fakes::TempDir dir;
    make_file(open_tree(dir.path()), "sparse", 4096, off_t{1} << 40U);
    expect_as_du(dir.path());
    EXPECT_LT(walk_of(dir.path()).used, 1_MiB);
}

TEST(Walk, HardLinksCountOnceHoweverMany) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    const auto one = make_directory(root, "one");
    const auto two = make_directory(root, "two");
    make_file(root, "file", 1 << 20);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(::linkat(root.get(), "file", (i % 2 == 0 ? one : two).get(), std::to_string(i).c_str(), 0), 0);
    }
    expect_as_du(dir.path());
    EXPECT_EQ(walk_of(dir.path()).inodes, 4);
}

TEST(Walk, LinksThatAreNotRememberedCountInParts) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    for (int i = 0; i < 20; ++i) {
        make_file(root, "file" + std::to_string(i), 40960);
        for (int j = 0; j < 3; ++j) {
            const std::string name = "link" + std::to_string(i) + "." + std::to_string(j);
            ASSERT_EQ(::linkat(root.get(), ("file" + std::to_string(i)).c_str(), root.get(), name.c_str(), 0), 0);
        }
    }
    const auto expected = du(dir.path());
    const auto found = walk_of(dir.path(), {.linked = 5});
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.trouble, "more files with several links than are remembered");
    EXPECT_EQ(found.used.value, expected.bytes);
    EXPECT_EQ(found.inodes, expected.inodes);
}

TEST(Walk, SymbolicLinksAreNotFollowed) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    ASSERT_EQ(::symlinkat("/", root.get(), "root"), 0);
    ASSERT_EQ(::symlinkat(".", root.get(), "self"), 0);
    ASSERT_EQ(::symlinkat("nowhere", root.get(), "dangling"), 0);
    expect_as_du(dir.path());
    EXPECT_EQ(walk_of(dir.path()).inodes, 4);
}

TEST(Walk, FourThousandLevelsTakeTwoDescriptors) {
    const DeepDir dir;
    auto at = open_tree(dir.path());
    for (int level = 0; level < 4000; ++level) at = make_directory(at, "directory with a long name");
    make_file(at, "bottom", 4096);
    const auto before = open_descriptors();
    std::size_t most = 0;
    const auto found = walk(open_tree(dir.path()), {}, [&](std::uint64_t /*entries*/) {
        most = std::max(most, open_descriptors());
        return true;
    });
    EXPECT_TRUE(found.complete) << found.trouble;
    EXPECT_EQ(found.inodes, 4002);
    EXPECT_LE(most, before + 2);
}

// Each level has a directory left to enter when the walk goes down, so all have to be found again on the way back.
TEST(Walk, LevelsThatWereClosedAreFoundAgain) {
    const DeepDir dir;
    auto at = open_tree(dir.path());
    for (int level = 0; level < 300; ++level) {
        for (int i = 0; i < 3; ++i) make_file(make_directory(at, std::to_string(i)), "file", 100);
        at = make_directory(at, "down");
    }
    const auto before = open_descriptors();
    std::size_t most = 0;
    const auto found = walk(open_tree(dir.path()), {.limits = {.open_directories = 4}}, [&](std::uint64_t /*entries*/) {
        most = std::max(most, open_descriptors());
        return true;
    });
    EXPECT_TRUE(found.complete) << found.trouble;
    EXPECT_EQ(found.inodes, 1 + (300 * 7));
    EXPECT_LE(most, before + 6);
    expect_as_du(dir.path(), {.open_directories = 1});
}

TEST(Walk, WithoutRoomForNamesTheAnswerIsTheSame) {
    const fakes::TempDir dir;
    make_bush(open_tree(dir.path()), 5, 3);
    expect_as_du(dir.path());
    expect_as_du(dir.path(), {.names = 0});
    expect_as_du(dir.path(), {.open_directories = 1, .names = 0});
}

// Several buffers of entries, with directories among the files.
TEST(Walk, AWideDirectoryIsReadToItsEnd) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    for (int i = 0; i < 1200; ++i) {
        const std::string name = "a name of some length, so that a buffer is full sooner " + std::to_string(i);
        if (i % 10 == 0) {
            make_file(make_directory(root, name), "file", 0);
        } else {
            ASSERT_EQ(::mknodat(root.get(), name.c_str(), S_IFREG | 0600, 0), 0);
        }
    }
    expect_as_du(dir.path());
    expect_as_du(dir.path(), {.open_directories = 1, .names = 0});
    EXPECT_EQ(walk_of(dir.path()).inodes, 1321);
}

TEST(Walk, MoreLevelsThanAreFollowedMakeItIncomplete) {
    const fakes::TempDir dir;
    make_bush(open_tree(dir.path()), 2, 5);
    const auto all = walk_of(dir.path());
    const auto found = walk_of(dir.path(), {.levels = 2});
    EXPECT_FALSE(found.complete);
    EXPECT_THAT(found.trouble, testing::HasSubstr("deeper than are followed"));
    EXPECT_LT(found.used, all.used);
}

TEST(Walk, AnUnreadableDirectoryMakesItIncomplete) {
    const fakes::TempDir dir;
    const auto closed = make_directory(open_tree(dir.path()), "closed");
    ASSERT_EQ(::fchmod(closed.get(), 0), 0);
    ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
    // Root reads everything; this thread, for what concerns files, is not root meanwhile.
    const int before = ::setfsuid(65534);
    const auto found = walk_of(dir.path());
    ::setfsuid(static_cast<uid_t>(before));
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.trouble, "a directory cannot be opened: Permission denied");
}

TEST(Walk, OneDirectoryCountsItsFilesOnly) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    make_file(root, "file", 4096);
    make_file(make_directory(root, "below"), "file", 4096);
    const auto found = walk(open_tree(dir.path()), {.depth = Depth::one_directory}, always);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.inodes, 2);
}

TEST(Walk, EndsAtOnceWhenItIsCancelled) {
    const fakes::TempDir dir;
    make_bush(open_tree(dir.path()), 6, 2);
    std::uint64_t told = 0;
    const auto found = walk(open_tree(dir.path()), {}, [&](std::uint64_t entries) {
        told += entries;
        return told < 128;
    });
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.trouble, "cancelled");
    EXPECT_GE(told, 128U);
    EXPECT_LT(found.inodes, 256);
}

TEST(Walk, AnEndlessTreeHasAnEnd) {
    const fakes::TempDir dir;
    make_bush(open_tree(dir.path()), 6, 2);
    const auto found = walk_of(dir.path(), {.entries = 200});
    EXPECT_FALSE(found.complete);
    EXPECT_THAT(found.trouble, testing::HasSubstr("keeps changing"));
}

// Removed under the walk: the directory it stands in, those it has still to enter, and files.
TEST(Walk, WhatVanishesIsNoError) {
    const fakes::TempDir dir;
    make_bush(open_tree(dir.path()), 6, 2);
    bool removed = false;
    const auto found = walk(open_tree(dir.path()), {}, [&](std::uint64_t /*entries*/) {
        if (!std::exchange(removed, true)) {
            for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
                std::filesystem::remove_all(entry);
        }
        return true;
    });
    EXPECT_TRUE(removed);
    EXPECT_TRUE(found.complete) << found.trouble;
}

// A directory that is moved to where the walk has not been yet is met twice, and counted once.
TEST(Walk, ADirectoryThatIsRenamedCountsOnce) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    std::vector<std::string> names;
    for (int i = 0; i < 4; ++i) {
        names.push_back("directory" + std::to_string(i));
        const auto below = make_directory(root, names.back());
        for (int file = 0; file < 80; ++file) make_file(below, std::to_string(file), 4096);
    }
    const auto expected = du(dir.path());
    int calls = 0;
    const auto found = walk(open_tree(dir.path()), {}, [&](std::uint64_t /*entries*/) {
        // The first is entered by now; it takes the place of one that is still to be entered.
        if (++calls != 1) return true;
        std::int64_t first = 0;
        std::string first_name;
        for (const auto& name : names) {
            struct stat status {};
            EXPECT_EQ(::fstatat(root.get(), name.c_str(), &status, 0), 0);
            if (first == 0 || static_cast<std::int64_t>(status.st_ino) < first) {
                first = static_cast<std::int64_t>(status.st_ino);
                first_name = name;
            }
        }
        const std::string& other = first_name == names.back() ? names.front() : names.back();
        EXPECT_EQ(::renameat(root.get(), other.c_str(), root.get(), "aside"), 0);
        EXPECT_EQ(::renameat(root.get(), first_name.c_str(), root.get(), other.c_str()), 0);
        return true;
    });
    EXPECT_TRUE(found.complete) << found.trouble;
    EXPECT_LE(found.used.value, expected.bytes);
    EXPECT_LE(found.inodes, expected.inodes);
}

// A pod that wants its files not to be counted. The way back up leads elsewhere; what was left to be read of the
// directory that was moved is not counted, and the figure says so.
TEST(Walk, AMovedDirectoryWhoseParentWasClosedHidesNothingButItself) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    const auto aside = make_directory(root, "aside");
    const auto work = make_directory(root, "work");  // not the root: that is always open
    const auto top = make_directory(work, "top");
    for (const char* name : {"a", "b", "c"}) {
        const auto below = make_directory(top, name);
        for (int i = 0; i < 100; ++i) make_file(below, std::to_string(i), 10);
        (void)make_directory(below, "d");
        (void)make_directory(below, "e");
    }
    const auto data = make_directory(work, "zzz");
    for (int i = 0; i < 5; ++i) make_file(data, std::to_string(i), 1 << 20);
    bool moved = false;
    const WalkOptions options{.limits = {.open_directories = 1}};
    const auto found = walk(open_tree(dir.path()), options, [&](std::uint64_t entries) {
        if (entries == 0 || std::exchange(moved, true)) return true;
        // It is in one of them, and `top` is closed.
        return ::renameat(top.get(), "a", aside.get(), "a") == 0 && ::renameat(top.get(), "b", aside.get(), "b") == 0 &&
               ::renameat(top.get(), "c", aside.get(), "c") == 0;
    });
    EXPECT_TRUE(moved);
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.trouble, "a directory was moved while it was read");
    EXPECT_GE(found.used.value, 5 << 20);
}

TEST(Walk, WithoutDescriptorsItIsIncompleteNotSmaller) {
    const fakes::TempDir dir;
    make_bush(open_tree(dir.path()), 2, 2);
    auto root = open_tree(dir.path());
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(root.get()) + 1, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto found = walk(std::move(root), {}, always);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(found.trouble, "a directory cannot be opened: Too many open files");
}

// A pod at work: files and directories come, go, move and grow while they are counted. What stays is counted.
TEST(Walk, ATreeThatKeepsChangingIsCounted) {
    const DeepDir dir;
    const auto root = open_tree(dir.path());
    make_bush(make_directory(root, "stays"), 4, 3);
    const auto moves = make_directory(root, "moves");
    const auto least = walk_of(dir.path());
    std::atomic<bool> is_over = false;
    std::jthread pod([&] {
        for (int i = 0; !is_over; i = (i + 1) % 100) {
            const std::string name = std::to_string(i);
            const std::string other = std::to_string((i * 7) % 100) + "moved";
            ::mkdirat(moves.get(), name.c_str(), 0755);
            const sys::Fd file(::openat(moves.get(), (name + "/file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
            (void)::ftruncate(file.get(), 1 << 20);
            ::unlinkat(moves.get(), (name + "/file").c_str(), 0);
            ::renameat(moves.get(), name.c_str(), moves.get(), other.c_str());
            ::linkat(root.get(), "stays/file0", moves.get(), (other + "/link").c_str(), 0);
            ::unlinkat(moves.get(), (other + "/link").c_str(), 0);
            ::unlinkat(moves.get(), other.c_str(), AT_REMOVEDIR);
        }
    });
    for (int i = 0; i < 100; ++i) {
        const auto found =
            walk_of(dir.path(), {.open_directories = 1, .names = static_cast<std::size_t>(i % 2) << 20U});
        EXPECT_TRUE(found.complete || found.trouble == "a directory was moved while it was read") << found.trouble;
        EXPECT_TRUE(!found.complete || found.used >= least.used) << found.used.value << " of " << least.used.value;
        EXPECT_LE(found.inodes, least.inodes + 400);
    }
    is_over = true;
}

// Random trees: du's figures, whatever the limits are.
class RandomTrees : public testing::TestWithParam<unsigned> {
protected:
    void make(const sys::Fd& at, int depth);
    void make_entry(const sys::Fd& at, int kept, const std::string& name, int depth);
    [[nodiscard]] int random(int most) { return std::uniform_int_distribution(0, most)(random_); }

    std::mt19937 random_{GetParam()};
    std::vector<std::pair<int, std::string>> files_;
    std::vector<sys::Fd> directories_;
};

void RandomTrees::make_entry(const sys::Fd& at, int kept, const std::string& name, int depth) {
    switch (random(6)) {
        case 0:
            if (depth > 0) make(make_directory(at, name), depth - 1);
            break;
        case 1:
            EXPECT_EQ(::symlinkat(std::string(static_cast<std::size_t>(1 + random(300)), 'x').c_str(), at.get(),
                                  name.c_str()),
                      0);
            break;
        case 2:
            EXPECT_EQ(::mkfifoat(at.get(), name.c_str(), 0600), 0);
            break;
        case 3:
            if (files_.empty()) break;
            {
                const auto& [directory, file] =
                    files_[static_cast<std::size_t>(random(static_cast<int>(files_.size()) - 1))];
                EXPECT_EQ(::linkat(directory, file.c_str(), at.get(), name.c_str(), 0), 0);
            }
            break;
        default:
            make_file(at, name, static_cast<std::size_t>(random(20000)), random(1) * random(1 << 20));
            files_.emplace_back(kept, name);
    }
}

void RandomTrees::make(const sys::Fd& at, int depth) {
    directories_.emplace_back(::dup(at.get()));
    const int kept = directories_.back().get();
    const int entries = random(12);
    for (int i = 0; i < entries; ++i) {
        std::string name = std::to_string(i);
        for (int length = random(12); length > 0; --length) name += static_cast<char>(1 + random(254));
        std::replace(name.begin(), name.end(), '/', '\n');
        make_entry(at, kept, name, depth);
    }
}

TEST_P(RandomTrees, AsDuSays) {
    const fakes::TempDir dir;
    const auto root = open_tree(dir.path());
    for (int i = 0; i < 4; ++i) make(make_directory(root, "tree" + std::to_string(i)), 12);
    expect_as_du(dir.path());
    expect_as_du(dir.path(), {.open_directories = 1});
    expect_as_du(dir.path(), {.open_directories = 2, .names = static_cast<std::size_t>(random(64)), .directories = 0});
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTrees, testing::Range(0U, 20U));

}  // namespace
}  // namespace evictd::disk
