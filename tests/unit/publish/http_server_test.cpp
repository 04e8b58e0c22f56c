// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What honest clients get, while others do what they can to keep them from it.
#include "publish/http_server.hpp"

#include <algorithm>
#include <ctime>
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include "sys/clock.hpp"
#include "sys/proof_of_life.hpp"
#include "unit/publish/http_client.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Generous, for machines that are busy; the faults that are meant cost ten seconds and more.
constexpr Duration at_once = 5s;

struct Served : testing::Test {
    void serve(HttpLimits limits = {}) {
        auto made = HttpServer::make({.address = "127.0.0.1:0"},
                                     {{"/page", [] { return HttpAnswer{.body = "text\n"}; }},
                                      {"/big", [] { return HttpAnswer{.body = std::string(32U << 20U, 'x')}; }}},
                                     limits);
        ASSERT_TRUE(made) << made.error().text();
        server = std::move(*made);
    }
    [[nodiscard]] std::string get(const std::string& path) const { return ask(server->port(), path); }
    // The answer to an honest client, and how long it took.
    void expect_served() const {
        const auto begin = sys::SystemClock().monotonic();
        EXPECT_THAT(get("/page"), HasSubstr("text\n"));
        EXPECT_LT(sys::SystemClock().monotonic() - begin, at_once);
    }
    [[nodiscard]] std::vector<sys::Fd> half_open(int count, const std::string& text) const {
        std::vector<sys::Fd> sockets;
        for (int i = 0; i < count; i++) {
            sockets.push_back(connect_to(server->port(), SOCK_NONBLOCK));
            send_text(sockets.back(), text);
        }
        return sockets;
    }
    std::unique_ptr<HttpServer> server;
};

TEST_F(Served, APageIsOneAnswerAndTheEndOfTheConnection) {
    serve();
    const auto text = get("/page");
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(text, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(text, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
    EXPECT_THAT(text, HasSubstr("\r\n\r\ntext\n"));
    EXPECT_THAT(get("/page?with=query"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Served, HeadHasTheHeadersOnly) {
    serve();
    const auto text = ask(server->port(), "/page", "HEAD");
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(text, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_THAT(text, Not(HasSubstr("text\n")));
}

TEST_F(Served, OtherMethodsAndPathsAreRefused) {
    serve();
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"}) {
        const auto text = ask(server->port(), "/page", method);
        EXPECT_THAT(text, StartsWith("HTTP/1.1 405")) << method;
        EXPECT_THAT(text, HasSubstr("Allow: GET, HEAD\r\n")) << method;
    }
    for (const char* path : {"/", "/pag", "/page/", "//page", "/page/../page", "/%2e%2e/etc/passwd"})
        EXPECT_THAT(get(path), StartsWith("HTTP/1.1 404")) << path;
}

TEST_F(Served, ABodyIsNeverRead) {
    serve();
    EXPECT_THAT(request(server->port(), "POST /page HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\nx"),
                StartsWith("HTTP/1.1 405"));
    EXPECT_THAT(request(server->port(),
                        "GET /page HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
                HasSubstr("text\n"));
    expect_served();
}

TEST_F(Served, OversizedHeadersAreRefused) {
    serve();
    EXPECT_THAT(request(server->port(), "GET /page HTTP/1.1\r\nHost: x\r\nX: " + std::string(64U << 10U, 'x')),
                Not(HasSubstr("text\n")));
    std::string many = "GET /page HTTP/1.1\r\nHost: x\r\n";
    for (int i = 0; i < 20'000; i++) many += "A: b\r\n";
    EXPECT_THAT(request(server->port(), many + "\r\n"), Not(HasSubstr("text\n")));
    EXPECT_THAT(request(server->port(), "GET /" + std::string(64U << 10U, 'x') + " HTTP/1.1\r\n\r\n"),
                Not(HasSubstr("text\n")));
    expect_served();
}

TEST_F(Served, WhatIsNoHttpIsRefused) {
    serve({.idle = 1s});
    for (const std::string& text : {std::string("\x16\x03\x01\x02\x00\x01\x00", 7), std::string("\r\n\r\n"),
                                    std::string("GET\r\n\r\n"), std::string(4096, '\0')})
        EXPECT_THAT(request(server->port(), text + "\r\n\r\n"), Not(HasSubstr("text\n")));
    expect_served();
}

TEST_F(Served, HalfOpenRequestsBlockNoClient) {
    serve();
    const auto silent = half_open(100, "");
    const auto begun = half_open(100, "GET /page HTTP/1.1\r\nHost: x\r\nX:");
    expect_served();
    expect_served();
}

TEST_F(Served, TheOneThatComesWithAFloodIsAnsweredFirstTime) {
    serve();
    for (const int flood : {23, 31, 40, 47, 63, 64, 65, 200}) {
        auto sockets = half_open(flood, "GET /page HTTP/1.1\r\nX:");
        const auto honest = connect_to(server->port());
        send_text(honest, "GET /page HTTP/1.1\r\nHost: x\r\n\r\n");
        const auto later = half_open(30, "GET /page HTTP/1.1\r\nX:");
        EXPECT_THAT(read_all(honest), HasSubstr("text\n")) << flood;
    }
}

TEST_F(Served, TenThousandConnectionsBlockNoClient) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit most{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &most), 0);
    const int count = static_cast<int>(std::min<rlim_t>(10'000, limit.rlim_max > 200 ? limit.rlim_max - 200 : 0));
    serve();
    const auto sockets = half_open(count, "GET /page HTTP/1.1\r\n");
    EXPECT_THAT(get("/page"), HasSubstr("text\n"));
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(Served, ASlowReaderBlocksNoClientAndIsDisconnectedAtLast) {
    serve({.deadline = 300ms});
    const auto slow = connect_to(server->port());
    send_text(slow, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
    expect_served();
    std::size_t got = 0;
    std::array<char, 1024> part{};
    const auto begin = sys::SystemClock().monotonic();
    while (sys::SystemClock().monotonic() - begin < 600ms) {  // a little now and then: it is never idle
        const auto bytes = ::recv(slow.get(), part.data(), 1, MSG_DONTWAIT);
        if (bytes == 0) break;
        got += bytes > 0 ? 1 : 0;
        ::usleep(10'000);
    }
    const auto rest = read_all(slow);  // what was under way when it was hung up on
    EXPECT_LT(got + rest.size(), 32U << 20U);
}

TEST_F(Served, HalfOpenRequestsEndAndCostNoCpu) {
    serve({.deadline = 1s});
    const auto sockets = half_open(20, "GET /page HTTP/1.1\r\n");
    expect_served();
    const auto cpu = [] {
        timespec used{};
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
    };
    const auto before = cpu();
    EXPECT_EQ(::recv(sockets.front().get(), nullptr, 0, MSG_DONTWAIT), -1);
    const auto blocking = connect_to(server->port());
    send_text(blocking, "GET /page HTTP/1.1\r\n");
    EXPECT_EQ(read_all(blocking), "");  // until the deadline
    EXPECT_LT(cpu() - before, 100ms);
}

TEST_F(Served, HangsUpAtOnceWhenItGoes) {
    serve();
    const auto open = half_open(5, "GET /page HTTP/1.1\r\n");
    const auto begin = sys::SystemClock().monotonic();
    server.reset();
    EXPECT_LT(sys::SystemClock().monotonic() - begin, 1s);
}

TEST_F(Served, WhatIsNoAddressIsAnError) {
    for (const char* address : {"localhost:1", "127.0.0.1", "127.0.0.1:65536", "[::1"}) {
        const auto made = HttpServer::make({.address = address}, {});
        ASSERT_FALSE(made) << address;
        EXPECT_EQ(made.error().text(), std::string("evictd.httpAddress: ") + address +
                                           " cannot be listened on: not an address and a port (choose an address of "
                                           "this host and a port that is free)");
    }
}

// As in a rolling update, where the agent before us ends later than we start.
TEST_F(Served, APortThatIsTakenIsServedOnceItIsFree) {
    serve();
    const int port = server->port();
    const auto address = "127.0.0.1:" + std::to_string(port);
    std::mutex mutex;
    std::vector<std::string> told;
    const auto tell = [&](const Status& listening) {
        const std::scoped_lock lock(mutex);
        told.push_back(listening ? "listening" : listening.error().text());
    };
    const auto second = HttpServer::make({.address = address, .tell = tell, .retry = 10ms},
                                         {{"/page", [] { return HttpAnswer{.body = "the second\n"}; }}});
    ASSERT_TRUE(second) << second.error().text();
    EXPECT_EQ((*second)->port(), 0);
    EXPECT_THAT(get("/page"), HasSubstr("text\n")) << "time for some tries";
    server.reset();
    std::string answer;
    for (const auto end = sys::SystemClock().monotonic() + 10s; answer.empty() && sys::SystemClock().monotonic() < end;)
        answer = ask(port, "/page");
    EXPECT_THAT(answer, HasSubstr("the second\n"));
    EXPECT_EQ((*second)->port(), port);
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(told, (std::vector<std::string>{"evictd.httpAddress: " + address +
                                                  " cannot be listened on: Address already in use (choose an address "
                                                  "of this host and a port that is free)",
                                              "listening"}));
}

TEST_F(Served, EndsAtOnceWhileItsPortIsTaken) {
    serve();
    auto second = HttpServer::make({.address = "127.0.0.1:" + std::to_string(server->port())}, {});
    ASSERT_TRUE(second);
    const auto begin = sys::SystemClock().monotonic();
    second->reset();
    EXPECT_LT(sys::SystemClock().monotonic() - begin, 1s);
}

TEST_F(Served, ListensOnIpv6Too) {
    const auto six = HttpServer::make({.address = "[::1]:0"}, {});
    ASSERT_TRUE(six);
    if ((*six)->port() == 0) GTEST_SKIP() << "no IPv6 here";
}

}  // namespace
}  // namespace evictd::publish
