// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whole lines, a bounded size, and a file that others may move.
#include "publish/rotating_file.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "publish/event_log_reader.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RotatingFile, MakesItsDirectoryAndKeepsTheLogFromOthers) {
    const fakes::TempDir directory;
    RotatingFile file({directory / "a/b/log", 1_MiB, 4});
    ASSERT_TRUE(file.append("one"));
    struct stat made {};
    ASSERT_EQ(::stat((directory / "a/b/log").c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0137U, 0U);
    EXPECT_THAT(lines_of(directory / "a/b/log"), ElementsAre("one"));
}

TEST(RotatingFile, StaysBelowItsSizeAndItsNumberOfFiles) {
    const fakes::TempDir directory;
    const auto path = directory / "log";
    RotatingFile file({path, 10_B, 3});
    for (const char* line : {"aaaa", "bbbb", "cccc", "dddd", "eeee", "ffff", "gggg"}) ASSERT_TRUE(file.append(line));
    EXPECT_THAT(lines_of(path), ElementsAre("gggg"));
    EXPECT_THAT(lines_of(path + ".1"), ElementsAre("eeee", "ffff"));
    EXPECT_THAT(lines_of(path + ".2"), ElementsAre("cccc", "dddd"));
    EXPECT_FALSE(std::filesystem::exists(path + ".3"));
}

TEST(RotatingFile, OneFileStartsAnew) {
    const fakes::TempDir directory;
    RotatingFile file({directory / "log", 6_B, 1});
    ASSERT_TRUE(file.append("aaaa"));
    ASSERT_TRUE(file.append("bbbb"));
    EXPECT_THAT(lines_of(directory / "log"), ElementsAre("bbbb"));
    EXPECT_FALSE(std::filesystem::exists(directory / "log.1"));
}

TEST(RotatingFile, ALineLongerThanTheFileIsStillWritten) {
    const fakes::TempDir directory;
    RotatingFile file({directory / "log", 4_B, 2});
    ASSERT_TRUE(file.append("longer than the file"));
    EXPECT_THAT(lines_of(directory / "log"), ElementsAre("longer than the file"));
}

TEST(RotatingFile, FollowsThePathWhenLogrotateMovesOrDeletesTheFile) {
    const fakes::TempDir directory;
    const auto path = directory / "log";
    RotatingFile file({path, 1_MiB, 4});
    ASSERT_TRUE(file.append("one"));
    std::filesystem::rename(path, directory / "moved");
    ASSERT_TRUE(file.append("two"));
    EXPECT_THAT(lines_of(path), ElementsAre("two"));
    EXPECT_THAT(lines_of(directory / "moved"), ElementsAre("one"));
    std::filesystem::remove(path);
    ASSERT_TRUE(file.append("three"));
    EXPECT_THAT(lines_of(path), ElementsAre("three"));
}

TEST(RotatingFile, ADeviceIsNeverRenamed) {
    RotatingFile file({"/dev/full", 1_B, 4});
    EXPECT_FALSE(file.append("one"));
    EXPECT_FALSE(file.append("two"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
    EXPECT_FALSE(std::filesystem::exists("/dev/full.1"));
}

TEST(RotatingFile, APathThatCannotBeAFileIsAnError) {
    const fakes::TempDir directory;
    std::ofstream(directory / "plain") << "x";
    EXPECT_FALSE(RotatingFile({directory / "plain/log", 1_MiB, 4}).append("one"));
}

TEST(RotatingFile, ALineThatFitsOnlyInPartIsTakenBack) {
    const fakes::TempDir directory;
    const auto path = directory / "log";
    RotatingFile file({path, 1_MiB, 4});
    ASSERT_TRUE(file.append("first"));
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{10, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto cut = file.append("does not fit");
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old_action);
    EXPECT_FALSE(cut);
    ASSERT_TRUE(file.append("last"));
    EXPECT_THAT(lines_of(path), ElementsAre("first", "last"));
}

std::vector<std::string> read_back(EventLogReader& reader) {
    std::vector<std::string> lines;
    std::size_t budget = 1 << 20;
    while (auto line = reader.next(budget)) lines.push_back(*line);
    return lines;
}

TEST(EventLogReader, ReadsRotatedFilesOldestFirstAndNoHalfLine) {
    const fakes::TempDir directory;
    const auto path = directory / "log";
    std::ofstream(path + ".2") << "a\nb\n";
    std::ofstream(path + ".1") << "c\nhalf";
    std::ofstream(path) << "d\n";
    EventLogReader reader(path, 4);
    EXPECT_THAT(read_back(reader), ElementsAre("a", "b", "c", "d"));
    EXPECT_TRUE(reader.at_end());
}

TEST(EventLogReader, StopsAtItsBudgetAndGoesOn) {
    const fakes::TempDir directory;
    std::ofstream(directory / "log") << "a\nb\n";
    EventLogReader reader(directory / "log", 1);
    std::size_t budget = 3;
    EXPECT_EQ(reader.next(budget), "a");
    EXPECT_EQ(reader.next(budget), std::nullopt);
    EXPECT_FALSE(reader.at_end());
    EXPECT_THAT(read_back(reader), ElementsAre("b"));
}

TEST(EventLogReader, MissesNothingWhenTheLogIsRotatedMeanwhile) {
    const fakes::TempDir directory;
    const auto path = directory / "log";
    RotatingFile file({path, 4_B, 4});
    ASSERT_TRUE(file.append("aaa"));
    EventLogReader reader(path, 4);
    ASSERT_TRUE(file.append("bbb"));
    EXPECT_THAT(read_back(reader), ElementsAre("aaa", "bbb"));
}

TEST(EventLogReader, LeavesOutRotatedFilesThatAreOlderThanAskedFor) {
    const fakes::TempDir directory;
    const auto path = directory / "log";
    std::ofstream(path + ".2") << "old\n";
    std::ofstream(path + ".1") << "late\n";
    std::ofstream(path) << "new\n";
    const auto now = std::filesystem::file_time_type::clock::now();
    std::filesystem::last_write_time(path + ".2", now - std::chrono::hours(1));
    std::filesystem::last_write_time(path, now - std::chrono::hours(1));  // the file in use is always read
    EventLogReader reader(path, 4, std::chrono::system_clock::now() - std::chrono::minutes(5));
    EXPECT_THAT(read_back(reader), ElementsAre("late", "new"));
}

TEST(EventLogReader, NoLogIsNoLines) {
    EventLogReader none("", 4);
    EXPECT_THAT(read_back(none), IsEmpty());
    EventLogReader missing("/nonexistent/log", 4);
    EXPECT_THAT(read_back(missing), IsEmpty());
}

TEST(EventLogReader, ALineWithoutEndDoesNotFillTheMemory) {
    const fakes::TempDir directory;
    std::ofstream(directory / "log") << std::string(300000, 'x') << "\nlast\n";
    EventLogReader reader(directory / "log", 1);
    EXPECT_EQ(read_back(reader).back(), "last");
}

}  // namespace
}  // namespace evictd::publish
