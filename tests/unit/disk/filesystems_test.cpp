// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk/filesystems.hpp"

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "fakes/few_descriptors.hpp"
#include "fakes/shared_clock.hpp"
#include "sys/lane.hpp"

namespace evictd::disk {
namespace {

using namespace std::chrono_literals;

// Filesystems by path; one of them may hang. Shared with threads that are left behind.
class Mounts {
public:
    void set(const std::string& path, FilesystemId id, std::int64_t available) {
        const std::scoped_lock lock(mutex_);
        FilesystemReading reading;
        reading.id = id;
        reading.available = {available};
        reading.capacity = {1000};
        readings_[path] = reading;
    }
    void hang(const std::string& path, bool hangs) {
        const std::scoped_lock lock(mutex_);
        hangs ? (void)hanging_.insert(path) : (void)hanging_.erase(path);
        changed_.notify_all();
    }
    Result<FilesystemReading> read(const std::string& path) {
        std::unique_lock lock(mutex_);
        ++asked_[path];
        changed_.notify_all();
        changed_.wait(lock, [&] { return !hanging_.contains(path); });
        const auto found = readings_.find(path);
        if (found == readings_.end()) return fail(ErrorKind::vanished, path, "No such file or directory");
        return found->second;
    }
    void note(const FilesystemReading& /*reading*/) {
        const std::scoped_lock lock(mutex_);
        ++answers_;
        changed_.notify_all();
    }
    // Waits until it was asked, or has answered, that often in all.
    [[nodiscard]] bool await_asked(const std::string& path, int times) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 30s, [&] { return asked_[path] >= times; });
    }
    [[nodiscard]] bool await_answers(int times) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 30s, [&] { return answers_ >= times; });
    }
    [[nodiscard]] int asked(const std::string& path) {
        const std::scoped_lock lock(mutex_);
        return asked_[path];
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, FilesystemReading> readings_;
    std::set<std::string> hanging_;
    std::map<std::string, int> asked_;
    int answers_ = 0;
};

class FilesystemsTest : public testing::Test {
protected:
    FilesystemsTest() {
        mounts->set("/kubelet", {0, 1}, 500);
        mounts->set("/images", {0, 2}, 700);
    }
    ~FilesystemsTest() override {
        for (const char* path : {"/kubelet", "/images"}) mounts->hang(path, false);
    }
    [[nodiscard]] std::unique_ptr<Filesystems> make(const port::FilesystemPaths& paths, Duration pace = 1h) const {
        Filesystems::Options options;
        options.pace = pace;
        options.read = [mounts = mounts](const std::string& path) { return mounts->read(path); };
        options.on_reading = [mounts = mounts](const FilesystemReading& reading) { mounts->note(reading); };
        return std::make_unique<Filesystems>(paths, clock, std::move(options));
    }
    static const FilesystemView& of(const FilesystemsView& view, NodeFilesystem which) {
        return view.of.at(static_cast<std::size_t>(which));
    }

    std::shared_ptr<Mounts> mounts = std::make_shared<Mounts>();
    fakes::SharedClock clock;
};

TEST_F(FilesystemsTest, AsksEachAndTellsThemApart) {
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/images"});
    ASSERT_TRUE(mounts->await_answers(2));
    const auto view = filesystems->newest();
    EXPECT_EQ(of(view, NodeFilesystem::nodefs).reading->available, 500_B);
    EXPECT_EQ(of(view, NodeFilesystem::imagefs).reading->available, 700_B);
    EXPECT_FALSE(of(view, NodeFilesystem::containerfs).reading);
    EXPECT_EQ(view.layout, FsLayout::dedicated_image_fs);
}

TEST_F(FilesystemsTest, WithoutARuntimeTheLayoutIsUnknown) {
    const auto filesystems = make({.nodefs = "/kubelet"});
    ASSERT_TRUE(mounts->await_answers(1));
    EXPECT_EQ(filesystems->newest().layout, FsLayout::unknown);
    EXPECT_EQ(filesystems->newest().layout_trouble, "imagefs is not known");
}

TEST_F(FilesystemsTest, OnePathIsAskedOnce) {
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/kubelet"});
    ASSERT_TRUE(mounts->await_answers(1));
    EXPECT_EQ(filesystems->newest().layout, FsLayout::single);
    EXPECT_EQ(mounts->asked("/kubelet"), 1);
}

TEST_F(FilesystemsTest, OneThatHangsIsUnknownAndHoldsUpNoOther) {
    mounts->hang("/images", true);
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/images"}, 1ms);
    ASSERT_TRUE(mounts->await_asked("/images", 1));
    ASSERT_TRUE(mounts->await_answers(20));
    clock.advance(5s);
    const auto view = filesystems->newest();
    EXPECT_FALSE(of(view, NodeFilesystem::imagefs).reading);
    EXPECT_EQ(of(view, NodeFilesystem::imagefs).trouble, "/images: statfs does not return since 5 s");
    EXPECT_TRUE(of(view, NodeFilesystem::nodefs).reading);
    EXPECT_EQ(mounts->asked("/images"), 1);  // not again
    mounts->hang("/images", false);
}

TEST_F(FilesystemsTest, OneThatHangsAfterAnAnswerIsUnknownTooAndStaysTheSameFilesystem) {
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/images"}, 1ms);
    ASSERT_TRUE(mounts->await_asked("/images", 2));
    ASSERT_TRUE(mounts->await_asked("/kubelet", 2));
    mounts->hang("/images", true);
    ASSERT_TRUE(mounts->await_asked("/images", mounts->asked("/images") + 1));
    clock.advance(2s);
    const auto view = filesystems->newest();
    EXPECT_FALSE(of(view, NodeFilesystem::imagefs).reading);
    EXPECT_EQ(view.layout, FsLayout::dedicated_image_fs);
    mounts->hang("/images", false);
}

TEST_F(FilesystemsTest, OneThatAnswersAgainIsKnownAgain) {
    mounts->hang("/images", true);
    const auto filesystems = make({.imagefs = "/images"}, 1ms);
    ASSERT_TRUE(mounts->await_asked("/images", 1));
    clock.advance(2s);
    EXPECT_FALSE(of(filesystems->newest(), NodeFilesystem::imagefs).reading);
    mounts->hang("/images", false);
    ASSERT_TRUE(mounts->await_answers(2));
    EXPECT_TRUE(of(filesystems->newest(), NodeFilesystem::imagefs).reading);
}

TEST_F(FilesystemsTest, AnAnswerWithinTheDeadlineIsNotMissed) {
    const auto filesystems = make({.imagefs = "/images"}, 1ms);
    ASSERT_TRUE(mounts->await_answers(1));
    mounts->hang("/images", true);
    ASSERT_TRUE(mounts->await_asked("/images", mounts->asked("/images") + 1));
    EXPECT_TRUE(of(filesystems->newest(), NodeFilesystem::imagefs).reading);
    mounts->hang("/images", false);
}

TEST_F(FilesystemsTest, AnErrorIsUnknown) {
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/gone"}, 1ms);
    ASSERT_TRUE(mounts->await_asked("/gone", 2));
    const auto view = filesystems->newest();
    EXPECT_FALSE(of(view, NodeFilesystem::imagefs).reading);
    EXPECT_EQ(of(view, NodeFilesystem::imagefs).trouble, "/gone: No such file or directory");
}

TEST_F(FilesystemsTest, WithoutTheKubeletsRootTheRootDirectoryIsAsked) {
    mounts->set("/", {0, 9}, 42);
    const auto filesystems = make({.nodefs = "/not-yet", .imagefs = "/also-not"});
    ASSERT_TRUE(mounts->await_answers(1));
    ASSERT_TRUE(mounts->await_asked("/also-not", 1));
    EXPECT_EQ(of(filesystems->newest(), NodeFilesystem::nodefs).reading->available, 42_B);
    EXPECT_FALSE(of(filesystems->newest(), NodeFilesystem::imagefs).reading);
}

TEST_F(FilesystemsTest, AFasterPaceCountsAtOnce) {
    const auto filesystems = make({.nodefs = "/kubelet"});
    ASSERT_TRUE(mounts->await_answers(1));
    filesystems->set_pace(1ms);
    EXPECT_TRUE(mounts->await_answers(10));
}

TEST_F(FilesystemsTest, AreAskedAtOnceOnRequest) {
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/images"});
    ASSERT_TRUE(mounts->await_answers(2));
    mounts->set("/kubelet", {0, 1}, 400);
    filesystems->ask();
    ASSERT_TRUE(mounts->await_answers(4));
    EXPECT_EQ(of(filesystems->newest(), NodeFilesystem::nodefs).reading->available, 400_B);
}

TEST_F(FilesystemsTest, OneThatHangsIsNotAskedASecondTime) {
    mounts->hang("/images", true);
    const auto filesystems = make({.nodefs = "/kubelet", .imagefs = "/images"});
    ASSERT_TRUE(mounts->await_asked("/images", 1));
    for (int i = 0; i < 5; ++i) filesystems->ask();
    ASSERT_TRUE(mounts->await_asked("/kubelet", 2));
    mounts->hang("/images", false);
    ASSERT_TRUE(mounts->await_asked("/images", 2));
    EXPECT_EQ(mounts->asked("/images"), 2) << "once for all that was requested meanwhile";
}

TEST_F(FilesystemsTest, ARuntimeThatComesLateGivesTheLayout) {
    const auto filesystems = make({.nodefs = "/kubelet"});
    ASSERT_TRUE(mounts->await_answers(1));
    EXPECT_TRUE(filesystems->set_paths({.nodefs = "/kubelet", .imagefs = "/images"}));
    ASSERT_TRUE(mounts->await_answers(2));
    EXPECT_EQ(filesystems->newest().layout, FsLayout::dedicated_image_fs);
    EXPECT_EQ(mounts->asked("/kubelet"), 1);
    EXPECT_TRUE(filesystems->set_paths({.nodefs = "/kubelet"}));
    EXPECT_EQ(filesystems->newest().layout, FsLayout::unknown);
}

TEST_F(FilesystemsTest, OneThatCannotBeAskedForWantOfADescriptorIsTriedAgain) {
    const auto filesystems = make({.nodefs = "/kubelet"});
    ASSERT_TRUE(mounts->await_answers(1));
    const port::FilesystemPaths paths{.nodefs = "/kubelet", .imagefs = "/images", .containerfs = {}};
    {
        const fakes::FewDescriptors none(0);
        EXPECT_FALSE(filesystems->set_paths(paths));
        EXPECT_FALSE(of(filesystems->newest(), NodeFilesystem::imagefs).trouble.empty());
    }
    EXPECT_TRUE(filesystems->set_paths(paths));
    ASSERT_TRUE(mounts->await_answers(2));
    EXPECT_EQ(filesystems->newest().layout, FsLayout::dedicated_image_fs);
    EXPECT_EQ(mounts->asked("/kubelet"), 1);
}

// The program ends although the thread does not.
TEST_F(FilesystemsTest, OneThatHangsIsLeftBehindAtTheEnd) {
    mounts->hang("/images", true);
    auto filesystems = make({.imagefs = "/images"});
    ASSERT_TRUE(mounts->await_asked("/images", 1));
    filesystems.reset();
    EXPECT_TRUE(sys::Lane::any_left_behind());
}

}  // namespace
}  // namespace evictd::disk
