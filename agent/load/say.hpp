// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a load says on stdout and stderr, and its clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evictd::load {

// The words of stdout. A line is `WORD PID NS`; NS is CLOCK_MONOTONIC.
inline constexpr std::string_view said_ready = "ready";      // it holds what it should
inline constexpr std::string_view said_begun = "begun";      // it grows, forks, reads or opens sockets
inline constexpr std::string_view said_asked = "asked";      // SIGTERM arrived
inline constexpr std::string_view said_filled = "filled";    // all files were written and read once
inline constexpr std::string_view said_refused = "refused";  // socket(2) failed with EPERM
inline constexpr std::string_view said_opened = "opened";    // connect: a socket after EPERM; sockets: ten more
inline constexpr std::string_view said_failed = "failed";    // a file cannot be used; it exits

// One write(2), so that lines of several processes do not mix. Safe in a signal handler.
void say(std::string_view word);

// The program's name in error messages.
void set_name(std::string_view program);
// `NAME: what` on stderr; exit status 2.
[[noreturn]] void die(const std::string& what);
// The same with the text of errno.
[[noreturn]] void die_errno(const std::string& what);

[[nodiscard]] std::int64_t now_ns();
void sleep_ns(std::int64_t duration);

}  // namespace evictd::load
