// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Events on disk and on stdout: trouble is counted and said, and never waited for.
#include "publish/event_log.hpp"

#include <array>
#include <csignal>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "codec/event_json.hpp"
#include "publish/console_lines.hpp"
#include "unit/codec/sample_records.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(EventLog, EveryEventIsALine) {
    const fakes::TempDir directory;
    EventLog log({directory / "events.jsonl", 1_MiB, 2}, "node-1");
    log.publish(shared(sample::evicting()));
    const auto lines = lines_of(directory / "events.jsonl");
    ASSERT_THAT(lines, SizeIs(3));
    for (const auto& line : lines) EXPECT_TRUE(codec::event_from_json(line)) << line;
    EXPECT_EQ(log.lost_lines(), 0U);
}

TEST(EventLog, AFullDiskLosesLinesAndTheLogCountsThemOnceThereIsRoom) {
    const fakes::TempDir directory;
    const auto path = directory / "events.jsonl";
    std::filesystem::create_symlink("/dev/full", path);
    EventLog log({path, 1_MiB, 2}, "node-1");
    log.publish(notice("one"));
    log.publish(notice("two"));
    EXPECT_EQ(log.lost_lines(), 2U);
    std::filesystem::remove(path);
    log.publish(notice("three", sample::start()));
    const auto lines = lines_of(path);
    ASSERT_THAT(lines, SizeIs(2));
    const auto loss = codec::event_from_json(lines[0]);
    ASSERT_TRUE(loss);
    EXPECT_EQ(loss->reason, codec::Reason::kernel_events_lost);
    EXPECT_EQ(loss->message, "2 lines of the event log were lost: No space left on device");
    EXPECT_EQ(loss->time, sample::start());
    EXPECT_THAT(lines[1], HasSubstr("three"));
    EXPECT_EQ(log.lost_lines(), 2U);
}

TEST(EventLog, ADirectoryThatCannotBeWrittenIsCountedToo) {
    const fakes::TempDir directory;
    std::ofstream(directory / "plain") << "x";
    EventLog log({directory / "plain/events.jsonl", 1_MiB, 2}, "n");
    log.publish(notice("one"));
    EXPECT_EQ(log.lost_lines(), 1U);
}

struct Pipe {
    sys::Fd read;
    sys::Fd write;
    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
            read = sys::Fd(ends[0]);
            write = sys::Fd(ends[1]);
        }
    }
    // What is there now.
    std::string drain() {
        ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
        std::string text;
        std::vector<char> chunk(65536);
        for (ssize_t got = 1; got > 0;) {
            got = ::read(read.get(), chunk.data(), chunk.size());
            if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
        }
        return text;
    }
};

TEST(ConsoleLines, AreJsonOrText) {
    Pipe pipe;
    ConsoleLines json(pipe.write.get(), ConsoleFormat::json, "node-1");
    json.publish(notice("hello"));
    EXPECT_THAT(pipe.drain(),
                HasSubstr(R"("node":"node-1","severity":"Normal","reason":"ConfigReloaded","message":"hello"})"));
    ConsoleLines text(pipe.write.get(), ConsoleFormat::text, "node-1");
    text.publish(notice("hello"));
    EXPECT_EQ(pipe.drain(), "00:00:00.000000 Normal  ConfigReloaded: hello\n");
}

TEST(ConsoleLines, AReaderThatDoesNotReadDelaysNoThreadAndLosesWholeLines) {
    Pipe pipe;
    ConsoleLines console(pipe.write.get(), ConsoleFormat::text, "n");
    for (int i = 0; i < 500; ++i) console.publish(notice(std::string(1000, 'x')));  // 500 KB into 64 KiB and a buffer
    std::string all = pipe.drain();
    for (int i = 0; i < 4; ++i) {
        console.publish(notice("late"));
        all += pipe.drain();
    }
    EXPECT_THAT(all, HasSubstr("lines were lost: stdout was not read)\n"));
    EXPECT_TRUE(all.ends_with("late\n"));
}

TEST(ConsoleLines, AReaderThatWentAwayIsNoTrouble) {
    Pipe pipe;
    const auto old_action = std::signal(SIGPIPE, SIG_IGN);
    pipe.read.reset();
    ConsoleLines console(pipe.write.get(), ConsoleFormat::text, "n");
    for (int i = 0; i < 3; ++i) console.publish(notice("x"));
    std::signal(SIGPIPE, old_action);
}

}  // namespace
}  // namespace evictd::publish
