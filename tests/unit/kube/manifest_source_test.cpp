// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/manifest_source.hpp"

#include <array>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fakes/few_descriptors.hpp"
#include "fakes/temp_dir.hpp"
#include "kube_manifests.hpp"
#include "source_listener.hpp"

namespace {
std::atomic<int> inotify_failures = 0;
}  // namespace

// In libc's place: as where fs.inotify.max_user_instances are used up, which no test may do to its machine.
int inotify_init1(int flags) noexcept {
    if (inotify_failures > 0) {
        --inotify_failures;
        errno = EMFILE;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}

namespace evictd::kube {
namespace {

struct ManifestSourceTest : ::testing::Test {
    fakes::TempDir dir;
    Listener listener;
};

TEST_F(ManifestSourceTest, ReportsTheInitialPodsAlsoIfThereAreNone) {
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.pods.empty() && set.rejected.empty(); }));
    EXPECT_EQ(source.describe(), "manifests in " + dir.path().string());
    EXPECT_FALSE(source.start(listener.hear())) << "only once";
}

TEST_F(ManifestSourceTest, ReportsAFileThatIsWrittenRenamedInChangedAndRemoved) {
    ManifestSource source(dir / "");
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods(""));
    dir.write("a.yaml", manifest("a"));
    ASSERT_TRUE(listener.until_pods("a"));
    dir.write("b.tmp", manifest("b"));
    std::filesystem::rename(dir / "b.tmp", dir / "b.yaml");
    ASSERT_TRUE(listener.until_pods("a b"));
    dir.write("a.yaml", manifest("a2", "uid-a"));
    ASSERT_TRUE(listener.until_pods("a2 b"));
    std::filesystem::remove(dir / "a.yaml");
    ASSERT_TRUE(listener.until_pods("b"));
    std::filesystem::rename(dir / "b.yaml", dir / "b.bak");
    ASSERT_TRUE(listener.until_pods(""));
}

TEST_F(ManifestSourceTest, IsThePodsOriginWhateverTheySayOfThemselves) {
    std::string text = manifest("a");
    text.insert(text.find("  uid:"), "  annotations: {kubernetes.io/config.source: file}\n");
    dir.write("a.yaml", text);
    const auto origin = [&](PodOrigin wanted) {
        return listener.until(
            [&](const port::PodSet& set) { return set.pods.size() == 1 && set.pods[0]->origin == wanted; });
    };
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    EXPECT_TRUE(origin(PodOrigin::api));
    ManifestSource static_pods(dir.path(), PodOrigin::static_file);
    ASSERT_TRUE(static_pods.start(listener.hear()));
    EXPECT_TRUE(origin(PodOrigin::static_file));
}

TEST_F(ManifestSourceTest, AChangeThatKeepsSizeInodeAndTimeIsSeen) {
    dir.write("a.yaml", manifest("a0", "uid-a"));
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods("a0"));
    struct stat before {};
    ASSERT_EQ(::stat((dir / "a.yaml").c_str(), &before), 0);
    dir.write("a.yaml", manifest("a1", "uid-a"));  // the same inode and size
    const std::array<timespec, 2> times{before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, (dir / "a.yaml").c_str(), times.data(), 0), 0);
    EXPECT_TRUE(listener.until_pods("a1"));
}

TEST_F(ManifestSourceTest, AHalfWrittenFileIsNotReadUntilItIsClosed) {
    ManifestSource source(dir.path(), {}, std::chrono::hours(1));
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods(""));
    bool was_half_read = false;
    const std::string text = manifest("a") + "  priority: 7\n";
    {
        const auto fd = sys::open(dir / "a.yaml", O_CREAT | O_WRONLY, 0600);
        ASSERT_TRUE(fd && sys::write_text(fd->get(), manifest("a")));
        dir.write("b.yaml", manifest("b"));
        ASSERT_TRUE(listener.until([&](const port::PodSet& set) {
            was_half_read = was_half_read || names(set).starts_with('a');
            return names(set).ends_with("b");
        }));
        ASSERT_TRUE(sys::write_text(fd->get(), "  priority: 7\n"));
    }
    EXPECT_TRUE(
        listener.until([](const port::PodSet& set) { return names(set) == "a b" && set.pods[0]->priority == 7; }));
    EXPECT_FALSE(was_half_read);
}

TEST_F(ManifestSourceTest, AFileThatIsNeverClosedIsReadAfterAWhile) {
    ManifestSource source(dir.path(), {}, std::chrono::milliseconds(20));
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods(""));
    const auto fd = sys::open(dir / "a.yaml", O_CREAT | O_WRONLY, 0600);
    ASSERT_TRUE(fd && sys::write_text(fd->get(), manifest("a")));
    EXPECT_TRUE(listener.until_pods("a"));
}

TEST_F(ManifestSourceTest, TheDirectoryMayComeLaterGoAwayAndComeBack) {
    const std::string late = dir / "x/y/pods";
    ManifestSource source(late);
    ASSERT_TRUE(source.start(listener.hear()));
    const auto missing = [](const port::PodSet& set) {
        return set.pods.empty() && set.rejected.size() == 1 && set.rejected[0].kind == ErrorKind::vanished;
    };
    ASSERT_TRUE(listener.until(missing));
    for (const char* name : {"a", "b"}) {
        dir.write(std::string("x/y/pods/") + name + ".yaml", manifest(name));
        ASSERT_TRUE(listener.until_pods(name));
        std::filesystem::remove_all(dir / "x");
        ASSERT_TRUE(listener.until(missing));
    }
}

TEST_F(ManifestSourceTest, AnotherDirectoryRenamedIntoItsPlaceIsRead) {
    dir.write("pods/a.yaml", manifest("a"));
    dir.write("next/b.yaml", manifest("b"));
    ManifestSource source(dir / "pods");
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods("a"));
    std::filesystem::rename(dir / "pods", dir / "old");
    std::filesystem::rename(dir / "next", dir / "pods");
    ASSERT_TRUE(listener.until_pods("b"));
    dir.write("pods/c.yaml", manifest("c"));
    EXPECT_TRUE(listener.until_pods("b c"));
}

TEST_F(ManifestSourceTest, ADirectoryFurtherUpMayBeReplacedToo) {
    dir.write("etc/evictd/pods/a.yaml", manifest("a"));
    dir.write("next/evictd/pods/b.yaml", manifest("b"));
    ManifestSource source(dir / "etc/evictd/pods");
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods("a"));
    std::filesystem::rename(dir / "etc", dir / "old");
    ASSERT_TRUE(listener.until_pods(""));
    std::filesystem::rename(dir / "next", dir / "etc");
    EXPECT_TRUE(listener.until_pods("b"));
}

TEST_F(ManifestSourceTest, ALinkedDirectoryThatIsRemovedIsNoticed) {
    dir.write("real/a.yaml", manifest("a"));
    std::filesystem::create_directory_symlink("real", dir / "link");
    ManifestSource source(dir / "link");
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods("a"));
    // As a whole and from elsewhere, so that only the directory itself tells.
    const fakes::TempDir elsewhere;
    std::filesystem::rename(dir / "real", elsewhere / "real");
    EXPECT_TRUE(listener.until_pods(""));
}

TEST_F(ManifestSourceTest, AMountedConfigMapThatIsSwappedIsReadAnew) {
    dir.write("..1/a.yaml", manifest("a"));
    dir.write("..2/a.yaml", manifest("a2"));
    std::filesystem::create_directory_symlink("..1", dir / "..data");
    std::filesystem::create_symlink("..data/a.yaml", dir / "a.yaml");
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods("a"));
    std::filesystem::create_directory_symlink("..2", dir / "..tmp");
    std::filesystem::rename(dir / "..tmp", dir / "..data");
    EXPECT_TRUE(listener.until_pods("a2"));
}

TEST_F(ManifestSourceTest, BadInputIsReportedAndGoneWhenItIsCorrected) {
    dir.write("a.yaml", "kind: Pod\nmetadata: {name: A, uid: a}\nspec: {containers: [{name: c}]}\n");
    dir.write("b.yaml", manifest("b"));
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until([&](const port::PodSet& set) {
        return names(set) == "b" && set.rejected.size() == 1 && set.rejected[0].what == dir / "a.yaml:2";
    }));
    dir.write("a.yaml", manifest("a"));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return names(set) == "a b" && set.rejected.empty(); }));
}

TEST_F(ManifestSourceTest, InotifyThatFailsAtTheStartIsTriedAgain) {
    inotify_failures = 2;
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    EXPECT_TRUE(listener.until(
        [](const port::PodSet& set) { return set.unread.size() == 1 && set.unread[0].what.ends_with(": inotify"); }));
    dir.write("a.yaml", manifest("a"));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return names(set) == "a" && set.unread.empty(); }));
    EXPECT_EQ(inotify_failures, 0);
    dir.write("b.yaml", manifest("b"));
    EXPECT_TRUE(listener.until_pods("a b"));
}

// No event says that a descriptor is free again.
TEST_F(ManifestSourceTest, WhatCannotBeReadIsKeptAndReadOnceItCan) {
    dir.write("a.yaml", manifest("a"));
    dir.write("b.tmp", manifest("b"));
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    ASSERT_TRUE(listener.until_pods("a"));
    {
        const fakes::FewDescriptors none(0);
        std::filesystem::rename(dir / "b.tmp", dir / "b.yaml");
        EXPECT_TRUE(listener.until([&](const port::PodSet& set) {
            return names(set) == "a" && set.unread.size() == 1 && set.rejected.empty() &&
                   set.unread[0].text() == dir.path().string() +
                                               ": Too many open files; the pods known from it are "
                                               "kept as they were";
        }));
    }
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return names(set) == "a b" && set.unread.empty(); }));
}

// As where the agent's queue is full. No event of the directory would bring it again.
TEST_F(ManifestSourceTest, ASetThatIsNotTakenIsDeliveredAgain) {
    dir.write("a.yaml", manifest("a"));
    listener.refuse(2);
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    EXPECT_TRUE(listener.until_pods("a"));
}

TEST_F(ManifestSourceTest, AFifoDoesNotHoldUpTheOthers) {
    ASSERT_EQ(::mkfifo((dir / "a.yaml").c_str(), 0600), 0);
    ManifestSource source(dir.path(), PodOrigin::static_file);
    ASSERT_TRUE(source.start(listener.hear()));
    dir.write("b.yaml", manifest("b"));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) {
        return names(set) == "b" && set.rejected.size() == 1 && set.pods[0]->origin == PodOrigin::static_file;
    }));
    EXPECT_EQ(source.describe(), "static pods in " + dir.path().string());
}

TEST_F(ManifestSourceTest, AThousandManifestsAreOneLook) {
    for (int i = 1000; i < 2000; ++i) {
        const std::string name = "pod-" + std::to_string(i);
        dir.write(name + ".yaml", manifest(name));
    }
    ManifestSource source(dir.path());
    ASSERT_TRUE(source.start(listener.hear()));
    EXPECT_TRUE(listener.until([](const port::PodSet& set) { return set.pods.size() == 1000; }));
    EXPECT_EQ(listener.calls(), 1);
}

TEST_F(ManifestSourceTest, AfterItsEndThereAreNoMoreCalls) {
    {
        ManifestSource source(dir.path());
        ASSERT_TRUE(source.start(listener.hear()));
        ASSERT_TRUE(listener.until_pods(""));
        dir.write("a.yaml", manifest("a"));
    }
    const int calls = listener.calls();
    dir.write("b.yaml", manifest("b"));
    EXPECT_EQ(listener.calls(), calls);
}

}  // namespace
}  // namespace evictd::kube
