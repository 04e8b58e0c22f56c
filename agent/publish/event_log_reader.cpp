// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The event log's files as one sequence of lines.
#include "publish/event_log_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "publish/rotating_file.hpp"

namespace evictd::publish {
namespace {

// No line of ours, with half a minute of history and the longest names, is a third of this; a longer one is not ours
// and is skipped, so that memory stays bounded.
constexpr std::size_t line_limit = std::size_t{64} << 10U;

// Files carry the time of the kernel's last tick, some milliseconds behind the clock that events are stamped with.
constexpr Duration tick = std::chrono::seconds(1);

bool written_since(int file, WallTime since) {
    struct stat now {};
    if (::fstat(file, &now) != 0) return true;
    const auto written = std::chrono::seconds(now.st_mtim.tv_sec) + std::chrono::nanoseconds(now.st_mtim.tv_nsec);
    return WallTime(written) + tick >= since;
}

}  // namespace

EventLogReader::EventLogReader(const std::string& path, int max_files, std::optional<WallTime> since) : path_(path) {
    for (int n = path.empty() ? -1 : std::max(max_files, 1) - 1; n >= 0; --n) {
        // All are opened now: a rotation while we read renames them, but takes none away.
        auto file = sys::open(rotated_name(path, n), O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (!file || (n > 0 && since && !written_since(file->get(), *since))) continue;
        files_.push_back(std::move(*file));
    }
}

std::optional<std::string> EventLogReader::buffered_line() {
    const auto end = buffer_.find('\n', start_);
    if (end == std::string::npos) return std::nullopt;
    std::string line = buffer_.substr(start_, end - start_);
    start_ = end + 1;
    return line;
}

void EventLogReader::next_file() {
    struct stat done {};
    struct stat current {};
    const bool known = ::fstat(files_.front().get(), &done) == 0 && ::stat(path_.c_str(), &current) == 0;
    files_.pop_front();
    buffer_.clear();  // a line without an end was never finished
    // The log was rotated while we read: its writer continues in a file that did not exist when we began.
    if (files_.empty() && known && (done.st_ino != current.st_ino || done.st_dev != current.st_dev)) {
        auto file = sys::open(path_, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (file) files_.push_back(std::move(*file));
    }
}

std::optional<std::string> EventLogReader::next(std::size_t& budget) {
    while (true) {
        if (auto line = buffered_line()) return line;
        if (files_.empty() || budget == 0) return std::nullopt;
        buffer_.erase(0, start_);
        start_ = 0;
        if (buffer_.size() > line_limit) buffer_.clear();
        std::array<char, 16384> chunk{};
        const ssize_t got = ::read(files_.front().get(), chunk.data(), std::min(chunk.size(), budget));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            next_file();
            continue;
        }
        budget -= static_cast<std::size_t>(got);
        buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace evictd::publish
