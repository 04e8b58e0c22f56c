// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "command/terminal.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::command {
namespace {

std::string_view said_last;

extern "C" void end_now(int /*signal_number*/) {
    // Only what is safe in a signal handler. Nobody is left to be told that this write failed.
    const auto ignored = ::write(STDOUT_FILENO, said_last.data(), said_last.size());
    (void)ignored;
    ::_exit(0);
}

// The first of the three that is set decides, as in setlocale(3).
bool speaks_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
        if (value != nullptr && *value != '\0') {
            const std::string_view locale = value;
            return locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
        }
    }
    return false;
}

Duration utc_offset() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    return localtime_r(&now, &local) != nullptr ? std::chrono::seconds(local.tm_gmtoff) : std::chrono::seconds(0);
}

winsize size_of(int fd) {
    winsize size{};
    return isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

// `evictd events --follow | head -1` must not wait for the next event to find out that nobody listens.
void watch_reader() {
    pollfd reader{STDOUT_FILENO, 0, 0};
    while (::poll(&reader, 1, -1) < 0 && errno == EINTR) {}
    if ((reader.revents & POLLERR) != 0) {
        end_now(0);
    }
}

}  // namespace

bool wants_colour(int fd) {
    const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): before any thread is made
    return isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

codec::TextStyle style_of(int fd) {
    return {
        .color = wants_colour(fd), .unicode = speaks_utf8(), .columns = size_of(fd).ws_col, .utc_offset = utc_offset()};
}

int rows_of(int fd) { return size_of(fd).ws_row; }

Status print(std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return sys::fail_errno("stdout", errno);
        }
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

void end_quietly(std::string_view last_words) {
    said_last = last_words;
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) {
        (void)std::signal(number, end_now);
    }
    std::thread(watch_reader).detach();
}

}  // namespace evictd::command
