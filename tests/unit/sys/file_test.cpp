// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "fakes/temp_dir.hpp"

namespace evictd::sys {
namespace {

TEST(ReadFile, AFifoIsRefusedWithoutWaitingForAWriter) {
    const fakes::TempDir dir;
    ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
    const auto refused = read_file(dir / "fifo", 100);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text(), dir / "fifo" + ": not a regular file (name a plain file)");
}

TEST(ReadFile, ReportsWhatIsMissingAndTheRemedy) {
    const auto missing = read_file("/nonexistent/file", 100);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().text(), "/nonexistent/file: No such file or directory (does the path exist?)");
    EXPECT_EQ(missing.error().kind, ErrorKind::vanished);
}

TEST(ReadFile, RefusesMoreThanTheLimit) {
    const fakes::TempDir dir;
    dir.write("file", "12345");
    EXPECT_EQ(read_file(dir / "file", 5), "12345");
    const auto refused = read_file(dir / "file", 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text(), dir / "file" + ": bigger than 4 bytes (is it the right file?)");
}

TEST(ReadFile, ReadsProcFilesWhoseSizeIsZero) {
    const auto text = read_file("/proc/self/stat", 1 << 16);
    ASSERT_TRUE(text);
    EXPECT_FALSE(text->empty());
}

TEST(WriteAtomically, ReplacesTheFileAndLeavesNothingElse) {
    const fakes::TempDir dir;
    dir.write("file", "old and longer");
    ASSERT_TRUE(write_atomically(dir / "file", "new", 0640));
    EXPECT_EQ(read_file(dir / "file", 100), "new");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
    struct stat status {};
    ASSERT_EQ(::stat((dir / "file").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST(WriteAtomically, ADirectoryInTheWayIsAnErrorAndLeavesNothing) {
    const fakes::TempDir dir;
    std::filesystem::create_directories(dir / "taken/inside");
    EXPECT_FALSE(write_atomically(dir / "taken", "new"));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(MakeDirectories, MakesAllOfThemAndAcceptsWhatIsThere) {
    const fakes::TempDir dir;
    ASSERT_TRUE(make_directories(dir / "a//b/c/", 0700));
    EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b/c"));
    EXPECT_TRUE(make_directories(dir / "a/b/c", 0700));
    EXPECT_TRUE(make_directories("/", 0700));
}

TEST(MakeDirectories, AFileInTheWayIsNamed) {
    const fakes::TempDir dir;
    dir.write("file", "");
    EXPECT_FALSE(make_directories(dir / "file/below", 0700));
    const auto refused = make_directories(dir / "file", 0700);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().why, "exists and is not a directory");
}

}  // namespace
}  // namespace evictd::sys
