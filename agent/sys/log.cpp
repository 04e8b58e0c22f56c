// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// spdlog's asynchronous logger behind four functions. Nothing else may include spdlog.
#include "sys/log.hpp"

#include <atomic>
#include <csignal>
#include <memory>
#include <string_view>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

namespace evictd::sys::log {
namespace {

// A line is rare: a burst of 1,024 is a fault that repeats, and its beginning and end are enough. Each place costs
// about 400 bytes of locked memory.
constexpr std::size_t queue_capacity = 1024;

struct Writer {
    std::shared_ptr<spdlog::details::thread_pool> pool;
    std::shared_ptr<spdlog::async_logger> logger;
};

// Set while a Session lives. An atomic pointer because lanes log; its lifetime is the Session's contract.
std::atomic<Writer*> writer = nullptr;
std::atomic<Level> threshold = Level::info;
std::atomic<std::uint64_t> lost_before = 0;

void on_writer_thread() {
    const sched_param normal{};
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal);
    pthread_setname_np(pthread_self(), "log");
}

std::string_view prefix(Level level) {
    return level == Level::error ? "evictd: error: " : level == Level::warn ? "evictd: warning: " : "evictd: ";
}

// One line, whatever names from outside contain: control characters would forge lines or drive the terminal.
std::string line(Level level, const std::string& text) {
    std::string whole(prefix(level));
    whole += text;
    for (char& c : whole)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return whole;
}

void write(Level level, const std::string& text) noexcept {
    if (level < threshold) return;
    try {
        std::string whole = line(level, text);
        if (const Writer* open_writer = writer; open_writer != nullptr) {
            open_writer->logger->log(spdlog::level::info, spdlog::string_view_t(whole));
            return;
        }
        whole += '\n';
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, whole.data(), whole.size());
    } catch (...) {
        ++lost_before;  // no memory for the line
    }
}

std::unique_ptr<Writer> make_writer() {
    auto made = std::make_unique<Writer>();
    sigset_t all{};
    sigset_t before{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the writer's thread: signals are the loop's
    made->pool = std::make_shared<spdlog::details::thread_pool>(queue_capacity, 1, on_writer_thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    made->logger = std::make_shared<spdlog::async_logger>("evictd", std::make_shared<spdlog::sinks::stderr_sink_mt>(),
                                                          made->pool, spdlog::async_overflow_policy::overrun_oldest);
    made->logger->set_pattern("%v");
    return made;
}

}  // namespace

Session::Session(Session&& other) noexcept : active_(std::exchange(other.active_, false)) {}

Session::~Session() {
    if (!active_) return;
    const std::unique_ptr<Writer> closing(writer.exchange(nullptr));
    if (!closing) return;
    lost_before += closing->pool->overrun_counter();
    closing->pool.reset();  // writes what is queued and joins its thread; nobody then shares the logger
}

Session open(Level level) {
    threshold = level;
    const std::unique_ptr<Writer> replaced(writer.exchange(make_writer().release()));
    return {};
}

void info(const std::string& text) noexcept { write(Level::info, text); }
void warn(const std::string& text) noexcept { write(Level::warn, text); }
void error(const std::string& text) noexcept { write(Level::error, text); }

std::uint64_t lost() noexcept {
    const Writer* open_writer = writer;
    return lost_before + (open_writer != nullptr ? open_writer->pool->overrun_counter() : 0);
}

}  // namespace evictd::sys::log
