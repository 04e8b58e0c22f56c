// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent tells the person who runs it: short lines on stderr. Logging never waits: lines go through a bounded
// queue, and what does not fit is counted. Not for events, which publish/ writes.
#pragma once

#include <cstdint>
#include <string>

namespace evictd::sys::log {

enum class Level : std::uint8_t { info, warn, error, off };

// While it lives, lines are written by a thread of its own; its destructor writes what is left. Before and after, each
// line is written by its caller, which is right for start-up and for one-shot verbs. Make one, before other threads
// start, and destroy it after they have been joined.
class Session {
public:
    Session(Session&& other) noexcept;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    Session& operator=(Session&&) = delete;
    ~Session();

private:
    friend Session open(Level level);
    Session() = default;
    bool active_ = true;
};

// Lines below `level` are left out from now on.
[[nodiscard]] Session open(Level level);

// `evictd: text`, `evictd: warning: text`, `evictd: error: text`, one line each. Thread-safe, never throw.
void info(const std::string& text) noexcept;
void warn(const std::string& text) noexcept;
void error(const std::string& text) noexcept;

// Lines that were overwritten in the queue because stderr was slower than us.
[[nodiscard]] std::uint64_t lost() noexcept;

}  // namespace evictd::sys::log
