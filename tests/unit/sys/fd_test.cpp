// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/fd.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"

namespace evictd::sys {
namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(Fd, ClosesWhatItOwnsExactlyOnce) {
    int number = -1;
    {
        Fd first(::dup(STDERR_FILENO));
        number = first.get();
        Fd second = std::move(first);
        EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that it is empty is the point
        EXPECT_TRUE(is_open(number));
    }
    EXPECT_FALSE(is_open(number));
}

TEST(Fd, AssigningClosesTheOldOne) {
    Fd kept(::dup(STDERR_FILENO));
    const int old = kept.get();
    kept = Fd(::dup(STDERR_FILENO));
    EXPECT_TRUE(kept.valid());
    EXPECT_EQ(is_open(old), old == kept.get());
}

TEST(Open, IsNeverInheritedByChildren) {
    const auto fd = open("/proc/self/stat", O_RDONLY);
    ASSERT_TRUE(fd);
    EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Open, ReportsWhatVanishedWithItsWholePath) {
    const fakes::TempDir dir;
    const auto directory = open(dir.path(), O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(directory);
    const auto gone = openat(directory->get(), "gone", O_RDONLY);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind, ErrorKind::vanished);
    EXPECT_EQ(gone.error().text(), dir / "gone" + ": No such file or directory");
}

TEST(ReadText, ReadsFromTheStartEveryTimeAndReusesItsBuffer) {
    const fakes::TempDir dir;
    const std::string big(10'000, 'x');
    dir.write("file", big);
    const auto fd = open(dir / "file", O_RDONLY);
    ASSERT_TRUE(fd);
    std::string text;
    ASSERT_TRUE(read_text(fd->get(), text));
    EXPECT_EQ(text, big);
    const auto* memory = text.data();
    ASSERT_TRUE(read_text(fd->get(), text));
    EXPECT_EQ(text, big);
    EXPECT_EQ(text.data(), memory);
    dir.write("file", "short");
    ASSERT_TRUE(read_text(fd->get(), text));
    EXPECT_EQ(text, "short");
}

TEST(ReadText, RefusesMoreThanTheLimit) {
    const fakes::TempDir dir;
    dir.write("file", std::string(100, 'x'));
    const auto fd = open(dir / "file", O_RDONLY);
    ASSERT_TRUE(fd);
    EXPECT_TRUE(read_all(fd->get(), 100));
    const auto refused = read_all(fd->get(), 99);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
}

TEST(WriteText, WritesAllOrNamesTheFile) {
    const fakes::TempDir dir;
    dir.write("file", "");
    const auto writable = open(dir / "file", O_WRONLY);
    const auto readable = open(dir / "file", O_RDONLY);
    ASSERT_TRUE(writable && readable);
    EXPECT_TRUE(write_text(writable->get(), "1\n"));
    EXPECT_EQ(read_all(readable->get(), 10), "1\n");
    const auto refused = write_text(readable->get(), "2\n");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, dir / "file");
}

}  // namespace
}  // namespace evictd::sys
