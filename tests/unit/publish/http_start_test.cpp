// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A server whose event loop refuses what it needs: no client may be left waiting, and it is tried again.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <systemd/sd-event.h>

#include "publish/http_server.hpp"
#include "sys/clock.hpp"
#include "unit/publish/http_client.hpp"

namespace {

std::atomic<int> timer_failures = 0;
std::atomic<int> watch_failures = 0;

// Of the server's thread, once it has its loop.
bool takes_one(std::atomic<int>& failures) {
    char name[16] = {};
    (void)::pthread_getname_np(::pthread_self(), &name[0], sizeof(name));
    if (std::strcmp(&name[0], "evictd-http") != 0 || failures <= 0) return false;
    --failures;
    return true;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// In the library's place: nothing else makes them fail but a machine without memory.
extern "C" int sd_event_add_time(sd_event* event, sd_event_source** source, clockid_t clock, uint64_t usec,
                                 uint64_t accuracy, sd_event_time_handler_t callback, void* data) {
    if (takes_one(timer_failures)) return -ENOMEM;
    return next<decltype(&sd_event_add_time)>("sd_event_add_time")(event, source, clock, usec, accuracy, callback,
                                                                   data);
}

extern "C" int sd_event_add_io(sd_event* event, sd_event_source** source, int fd, uint32_t events,
                               sd_event_io_handler_t callback, void* data) {
    if (takes_one(watch_failures)) return -ENOMEM;
    return next<decltype(&sd_event_add_io)>("sd_event_add_io")(event, source, fd, events, callback, data);
}

namespace evictd::publish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Refused : testing::Test {
    Refused() { timer_failures = watch_failures = 0; }
    void serve(Duration retry) {
        auto made = HttpServer::make({.address = "127.0.0.1:0",
                                      .tell =
                                          [this](const Status& listening) {
                                              const std::scoped_lock lock(mutex);
                                              told.push_back(listening ? "listening" : listening.error().text());
                                          },
                                      .retry = retry},
                                     {{"/page", [] { return HttpAnswer{.body = "text\n"}; }}});
        ASSERT_TRUE(made) << made.error().text();
        server = std::move(*made);
    }
    [[nodiscard]] std::string answer() const {
        std::string text;
        const sys::SystemClock clock;
        for (const auto end = clock.monotonic() + std::chrono::seconds(10); text.empty() && clock.monotonic() < end;)
            if (const int port = server->port(); port != 0 && all_told() == 2) text = ask(port, "/page");
        return text;
    }
    [[nodiscard]] std::size_t all_told() const {
        const std::scoped_lock lock(mutex);
        return told.size();
    }
    std::unique_ptr<HttpServer> server;
    mutable std::mutex mutex;
    std::vector<std::string> told;
};

TEST_F(Refused, WithoutTimersItDoesNotListenAndTriesAgain) {
    timer_failures = 3;
    serve(std::chrono::milliseconds(20));
    EXPECT_THAT(answer(), HasSubstr("text\n"));
    EXPECT_THAT(told, ElementsAre(HasSubstr("timer"), "listening"));
    EXPECT_EQ(timer_failures, 0);
}

TEST_F(Refused, WithoutAWatchItDoesNotListenAndTriesAgain) {
    watch_failures = 3;
    serve(std::chrono::milliseconds(20));
    EXPECT_THAT(answer(), HasSubstr("text\n"));
    EXPECT_THAT(told, ElementsAre(HasSubstr("file descriptor"), "listening"));
}

TEST_F(Refused, ItEndsWhileItWaitsForTheNextTry) {
    timer_failures = 1'000'000;
    serve(std::chrono::hours(1));
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + std::chrono::seconds(10);
    while (server->port() != 0 && clock.monotonic() < end) {}
    EXPECT_EQ(server->port(), 0) << "nobody would answer there";
    const auto begin = clock.monotonic();
    server.reset();
    EXPECT_LT(clock.monotonic() - begin, std::chrono::seconds(2));
    timer_failures = 0;
}

}  // namespace
}  // namespace evictd::publish
