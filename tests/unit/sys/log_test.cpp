// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "sys/log.hpp"

#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/temp_dir.hpp"
#include "sys/fd.hpp"
#include "sys/file.hpp"

namespace evictd::sys::log {
namespace {

// stderr into a file for as long as it lives.
class Captured {
public:
    Captured() : saved_(::dup(STDERR_FILENO)) {
        const auto file = sys::open(dir_ / "stderr", O_CREAT | O_WRONLY | O_APPEND, 0600);
        ::dup2(file->get(), STDERR_FILENO);
    }
    ~Captured() { ::dup2(saved_.get(), STDERR_FILENO); }
    [[nodiscard]] std::string text() const { return *read_file(dir_ / "stderr", 1 << 22); }

private:
    fakes::TempDir dir_;
    Fd saved_;
};

TEST(Log, BeforeASessionLinesAreWrittenAtOnce) {
    const Captured captured;
    warn("careful");
    EXPECT_EQ(captured.text(), "evictd: warning: careful\n");
}

TEST(Log, ASessionWritesInOrderAndEmptiesItsQueueAtTheEnd) {
    const Captured captured;
    {
        const auto session = open(Level::info);
        info("one");
        error("two");
    }
    info("three");
    EXPECT_EQ(captured.text(), "evictd: one\nevictd: error: two\nevictd: three\n");
}

TEST(Log, LeavesOutWhatIsBelowTheLevel) {
    const Captured captured;
    {
        const auto session = open(Level::warn);
        info("left out");
        warn("kept");
    }
    { const auto session = open(Level::info); }
    EXPECT_EQ(captured.text(), "evictd: warning: kept\n");
}

TEST(Log, AMessageCannotForgeALineOrDriveTheTerminal) {
    const Captured captured;
    info("pod \x1b[31mred\nevictd: error: forged");
    EXPECT_EQ(captured.text(), "evictd: pod  [31mred evictd: error: forged\n");
}

TEST(Log, PercentAndBracesAreJustText) {
    const Captured captured;
    {
        const auto session = open(Level::info);
        info("{} %v %s");
    }
    EXPECT_EQ(captured.text(), "evictd: {} %v %s\n");
}

TEST(Log, NeverWaitsForAStuckReaderAndCountsWhatItLost) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    Fd reader(ends[0]);
    const Fd saved(::dup(STDERR_FILENO));
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
    const auto lost_before = lost();
    std::string all;
    std::thread late_reader;
    {
        const auto session = open(Level::info);
        // Pipe (64 KiB) and queue (1,024 lines) hold far less than this.
        for (int i = 0; i < 5000; ++i) info(std::string(100, 'x'));
        EXPECT_GT(lost(), lost_before);
        late_reader = std::thread([&] {
            std::array<char, 4096> buffer{};
            for (ssize_t got = 1; got > 0;) {
                got = ::read(reader.get(), buffer.data(), buffer.size());
                if (got > 0) all.append(buffer.data(), static_cast<std::size_t>(got));
            }
        });
    }
    ::dup2(saved.get(), STDERR_FILENO);
    late_reader.join();
    EXPECT_GT(lost(), lost_before) << "the count survives the session";
    EXPECT_GT(all.size(), 1000U * 100U);
}

}  // namespace
}  // namespace evictd::sys::log
