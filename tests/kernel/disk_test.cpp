// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Filesystems and mounts as they are: what is one filesystem, what a walk does not enter, and one that does not answer.
#include <chrono>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "disk/filesystem_reading.hpp"
#include "disk/filesystems.hpp"
#include "disk/pod_trees.hpp"
#include "disk/walk.hpp"
#include "fakes/temp_dir.hpp"
#include "kernel/silent_mount.hpp"

namespace evictd::kernel_test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Disk : public testing::Test {
protected:
    ~Disk() override {
        for (auto mounted = mounted_.rbegin(); mounted != mounted_.rend(); ++mounted) {
            (void)::umount2(mounted->c_str(), MNT_DETACH);
        }
    }
    std::string directory(const std::string& name) {
        fs::create_directories(dir / name);
        return dir / name;
    }
    void mount_tmpfs(const std::string& name) {
        ASSERT_EQ(::mount("evictd-test", directory(name).c_str(), "tmpfs", 0, "size=1m,nr_inodes=100"), 0);
        mounted_.push_back(dir / name);
    }
    void bind(const std::string& from, const std::string& to) {
        ASSERT_EQ(::mount((dir / from).c_str(), (dir / to).c_str(), nullptr, MS_BIND, nullptr), 0);
        mounted_.push_back(dir / to);
    }
    [[nodiscard]] TreeUsage walk(const std::string& name) const {
        return disk::walk(sys::Fd(::open((dir / name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), {},
                          [](std::uint64_t /*entries*/) { return true; });
    }
    static bool await(const std::function<bool()>& condition) {
        const auto until = std::chrono::steady_clock::now() + 30s;
        while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
        return condition();
    }

    fakes::TempDir dir;

private:
    std::vector<std::string> mounted_;
};

TEST_F(Disk, BindMountsAreOneFilesystemAndTmpfsAreSeveral) {
    directory("images");
    directory("bound");
    bind("images", "bound");
    mount_tmpfs("one");
    mount_tmpfs("two");
    const auto plain = disk::read_filesystem(dir / "images");
    ASSERT_TRUE(plain) << plain.error().text();
    EXPECT_EQ(disk::read_filesystem(dir / "bound")->id, plain->id);
    EXPECT_EQ(disk::read_filesystem(dir.path())->id, plain->id);
    const auto one = disk::read_filesystem(dir / "one");
    EXPECT_NE(one->id, plain->id);
    EXPECT_NE(one->id, disk::read_filesystem(dir / "two")->id);
    EXPECT_EQ(one->capacity, 1_MiB);
    EXPECT_EQ(one->inodes, 100);
}

TEST_F(Disk, AFullFilesystemHasNothingAvailable) {
    mount_tmpfs("full");
    const sys::Fd file(::open((dir / "full/file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string text(1 << 16, 'x');
    while (::write(file.get(), text.data(), text.size()) > 0) {}
    EXPECT_EQ(disk::read_filesystem(dir / "full")->available, 0_B);
}

// Whatever is mounted below a pod's volume is not the volume's.
TEST_F(Disk, AWalkEntersNoMountNotEvenOfItsOwnFilesystem) {
    directory("tree/plain");
    directory("tree/bound");
    dir.write("outside/file", std::string(100000, 'x'));
    dir.write("tree/plain/file", std::string(100000, 'x'));
    dir.write("tree/hosts", "");
    const auto before = walk("tree");
    EXPECT_EQ(before.inodes, 5);
    bind("outside", "tree/bound");
    bind("outside/file", "tree/hosts");
    mount_tmpfs("tree/plain/memory");
    dir.write("tree/plain/memory/file", std::string(10000, 'x'));
    const auto after = walk("tree");
    EXPECT_TRUE(after.complete) << after.trouble;
    EXPECT_EQ(after.inodes, 3);  // without the mount points: the tree, "plain" and its file
    EXPECT_LE(after.used, before.used);
}

TEST_F(Disk, TheRootOfAWalkMayBeAMount) {
    mount_tmpfs("memory");
    dir.write("memory/file", std::string(10000, 'x'));
    const auto found = walk("memory");
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.inodes, 2);
    EXPECT_EQ(found.used.value, 12288);
}

TEST_F(Disk, AWalkDoesNotTouchADeadMountBelow) {
    directory("tree/dead");
    dir.write("tree/file", "text");
    const SilentMount dead(dir / "tree/dead");
    if (!dead.works()) GTEST_SKIP() << "no FUSE";
    const auto found = walk("tree");  // returns
    EXPECT_TRUE(found.complete) << found.trouble;
    EXPECT_EQ(found.inodes, 2);
    EXPECT_EQ(dead.waiting(), 0);
}

// A memory-backed emptyDir is a mount of the kubelet's. What a privileged pod mounted in the place of its volume may
// not answer, and is not asked.
TEST_F(Disk, AVolumeThatIsAMountIsOpenedIfItIsLocal) {
    const std::string volumes = "pods/uid-1/volumes/kubernetes.io~empty-dir/";
    const disk::PodDirectories directories{dir / "pods", dir / "logs"};
    directory("logs/default_web_uid-1/main");
    mount_tmpfs(volumes + "memory");
    dir.write(volumes + "memory/file", std::string(10000, 'x'));
    directory(volumes + "dead");
    const SilentMount dead(dir / (volumes + "dead"));
    if (!dead.works()) GTEST_SKIP() << "no FUSE";
    mount_tmpfs("logs/default_web_uid-1/main");
    const auto listing = disk::list_trees(directories, [] {});
    EXPECT_EQ(listing.trouble, "");
    ASSERT_EQ(listing.trees.size(), 4U);
    for (const auto& place : listing.trees) {
        const auto opened = disk::open_tree(directories, place);
        if (place.name == "memory" || place.kind == TreeKind::pod_logs) {
            EXPECT_TRUE(opened) << opened.error().text();
        } else if (place.name == "dead") {
            ASSERT_FALSE(opened);
            EXPECT_EQ(opened.error().text(),
                      "uid-1/volumes/kubernetes.io~empty-dir/dead: a mount of type fuse is in its place");
        } else {
            EXPECT_FALSE(opened);  // logs are no mounts
        }
    }
    EXPECT_EQ(dead.waiting(), 0);
}

TEST_F(Disk, AMountThatDoesNotAnswerIsUnknownUntilItDoes) {
    static const sys::SystemClock clock;
    directory("dead");
    directory("alive");
    SilentMount dead(dir / "dead");
    if (!dead.works()) GTEST_SKIP() << "no FUSE";
    disk::Filesystems::Options options;
    options.deadline = 50ms;
    options.pace = 10ms;
    const disk::Filesystems filesystems({.nodefs = dir / "alive", .imagefs = dir / "dead"}, clock, options);
    const auto view = [&](NodeFilesystem which) { return filesystems.newest().of[static_cast<std::size_t>(which)]; };
    const auto trouble = [&] { return view(NodeFilesystem::imagefs).trouble; };
    // On a busy machine the one that is alive may be late too, and is unknown until it answers.
    const auto reading_after = [&](NodeFilesystem which, MonotonicTime after) {
        std::optional<FilesystemReading> reading;
        (void)await([&] { return (reading = view(which).reading) && reading->at > after; });
        return reading;
    };
    ASSERT_TRUE(await([&] { return trouble().find("does not return") != std::string::npos; })) << trouble();
    EXPECT_FALSE(view(NodeFilesystem::imagefs).reading);
    // The other is asked on; this one is not asked a second time.
    const auto first = reading_after(NodeFilesystem::nodefs, {});
    ASSERT_TRUE(first);
    EXPECT_TRUE(reading_after(NodeFilesystem::nodefs, first->at + 50ms));
    EXPECT_EQ(dead.waiting(), 1);
    dead.answer();
    const auto images = reading_after(NodeFilesystem::imagefs, {});
    ASSERT_TRUE(images) << trouble();
    EXPECT_EQ(images->capacity.value, 1000 * 4096);
    EXPECT_EQ(images->available.value, 100 * 4096);
    EXPECT_EQ(images->inodes_free, 5);
    EXPECT_EQ(filesystems.newest().layout, FsLayout::dedicated_image_fs);
}

}  // namespace
}  // namespace evictd::kernel_test
