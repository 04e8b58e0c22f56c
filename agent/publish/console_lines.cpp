// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// stdout is shared with whoever started us, so it cannot be made non-blocking: it is asked before each write instead.
#include "publish/console_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "codec/event_json.hpp"
#include "codec/event_text.hpp"

namespace evictd::publish {
namespace {

// Some hundred lines: what a terminal that was stopped with Ctrl-S gets to see later.
constexpr std::size_t pending_limit = std::size_t{64} << 10U;

bool writable(int fd) {
    pollfd ready{fd, POLLOUT, 0};
    return ::poll(&ready, 1, 0) > 0 && (ready.revents & (POLLOUT | POLLERR | POLLHUP)) != 0;
}

}  // namespace

ConsoleLines::ConsoleLines(int fd, ConsoleFormat format, std::string node, codec::TextStyle style,
                           std::shared_ptr<EventStream> events)
    : fd_(fd), format_(format), node_(std::move(node)), style_(style), events_(std::move(events)) {}

void ConsoleLines::publish(const RecordPtr& record) {
    flush();  // what an earlier record left
    for (const auto& event : events_->of(record)) {
        add(format_ == ConsoleFormat::json ? codec::to_json_line(event, node_) : codec::to_text_line(event, style_));
        flush();
    }
}

void ConsoleLines::add(const std::string& line) {
    if (pending_.size() + line.size() > pending_limit) {
        ++lost_;
        return;
    }
    if (lost_ > 0 && format_ == ConsoleFormat::text) {
        pending_ += "(" + std::to_string(lost_) + " lines were lost: stdout was not read)\n";
    }
    lost_ = 0;
    pending_ += line + "\n";
}

// A pipe that is ready takes PIPE_BUF bytes without blocking; more might wait.
void ConsoleLines::flush() {
    while (!pending_.empty() && !closed_ && writable(fd_)) {
        const ssize_t written = ::write(fd_, pending_.data(), std::min<std::size_t>(pending_.size(), PIPE_BUF));
        if (written < 0 && errno == EINTR) continue;
        // A reader that is gone does not come back; a full disk may.
        if (written < 0) closed_ = errno == EPIPE || errno == EBADF;
        if (written <= 0) break;
        pending_.erase(0, static_cast<std::size_t>(written));
    }
    if (closed_) pending_.clear();
}

}  // namespace evictd::publish
