// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the client makes of a server's replies. TLS is tested against a real API server (tests/kube).
#include "http/client.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/grpc_server.hpp"
#include "fakes/http_server.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::http {
namespace {

using namespace std::chrono_literals;
using Connection = fakes::HttpServer::Connection;

class HttpTest : public ::testing::Test {
protected:
    HttpTest() : loop(*sys::Loop::make()) {}
    void serve(fakes::HttpServer::Handler handler) {
        server.emplace(std::move(handler));
        client = std::move(*Client::make(loop, {.url = server->url(), .tls = {}}));
    }
    Result<Reply> get(const Request& request) {
        std::optional<Result<Reply>> reply;
        auto call = client->start(
            request,
            [&](std::string_view piece) -> Status {
                body += piece;
                pieces++;
                return body.size() > most ? Status(fail(ErrorKind::invalid, "it", "too much")) : Status{};
            },
            [&](Result<Reply> done) { reply = std::move(done); });
        EXPECT_TRUE(call);
        while (!reply) (void)loop.run_once(1s);
        return *reply;
    }
    sys::Loop loop;
    std::unique_ptr<Client> client;
    std::string body;
    int pieces = 0;
    std::size_t most = 1000;
    std::atomic<int> asked = 0;
    std::optional<fakes::HttpServer> server;  // the last member: its threads use the others
};

TEST_F(HttpTest, HandsOnWhatIsAcceptedAndKeepsWhatIsRefused) {
    serve([](const std::string& method, const std::string& path, const Connection& to) {
        EXPECT_EQ(method, "GET");
        if (path == "/yes") {
            to.reply(200, "body");
        } else {
            to.reply(429, "later", "Retry-After: 7\r\n");
        }
        return true;
    });
    const auto accepted = get({.path = "/yes"});
    ASSERT_TRUE(accepted);
    EXPECT_TRUE(accepted->accepted());
    EXPECT_EQ(body, "body");
    EXPECT_GE(pieces, 2) << "the reply's beginning is a piece of its own";
    const auto refused = get({.path = "/no"});
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    EXPECT_EQ(refused->body, "later");
    EXPECT_EQ(refused->retry_after, 7s);
    EXPECT_EQ(body, "body");
    EXPECT_EQ(client->started(), 2U);
}

TEST_F(HttpTest, AReplyThatIsCutOffOrLateIsAnError) {
    serve([](const std::string&, const std::string& path, const Connection& to) {
        to.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        if (path == "/late") to.hold();
        return false;
    });
    const auto cut = get({.path = "/cut"});
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().kind, ErrorKind::unreachable);
    const auto late = get({.path = "/late", .timeout = 50ms});
    ASSERT_FALSE(late);
    EXPECT_NE(late.error().why.find("timed out"), std::string::npos) << late.error().text();
}

// Servers that do not stop; none of the requests has a timeout.
TEST_F(HttpTest, AnEndlessRefusalEndsByBytesWithItsBeginning) {
    serve([](const std::string&, const std::string&, const Connection& to) {
        to.send("HTTP/1.1 503 X\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 100'000; i++) to.chunk("no " + std::string(1000, 'x'));
        to.hold();
        return false;
    });
    const auto reply = get({.path = "/"});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->status, 503);
    EXPECT_EQ(reply->body.size(), 16U << 10U);
    EXPECT_EQ(reply->body.substr(0, 3), "no ");
    EXPECT_EQ(pieces, 0);
}

// As a container runtime's would be.
TEST_F(HttpTest, AnEndlessRefusalOfASocketEndsByBytesToo) {
    const fakes::TempDir dir;
    const fakes::GrpcServer socket(dir / "socket", [](const fakes::GrpcServer::Call& to) {
        to.begin_error();
        for (int i = 0; i < 1000; i++) to.data(std::string(16'000, 'x'));
        to.hold();
    });
    client = std::move(*Client::make(loop, {.url = "http://localhost", .tls = {}, .unix_socket = dir / "socket"}));
    const auto reply = get({.path = "/", .takes_trailers = true});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->status, 500);
    EXPECT_EQ(reply->body.size(), 16U << 10U);
}

TEST_F(HttpTest, EndlessHeadersEndByBytes) {
    serve([](const std::string&, const std::string& path, const Connection& to) {
        if (path == "/headers") to.send("HTTP/1.1 200 X\r\n");
        const std::string again =
            path == "/headers" ? "X: " + std::string(1000, 'x') + "\r\n" : "HTTP/1.1 100 X\r\n\r\n";
        for (int i = 0; i < 100'000; i++) to.send(again);
        to.hold();
        return false;
    });
    for (const auto* path : {"/headers", "/continue"}) {
        const auto reply = get({.path = path});
        ASSERT_FALSE(reply) << path;
        EXPECT_EQ(reply.error().why, "its reply has too many headers") << path;
        EXPECT_EQ(pieces, 0);
    }
}

TEST_F(HttpTest, ARefusalAndHeadersThatDripEndByTime) {
    serve([](const std::string&, const std::string& path, const Connection& to) {
        to.send(path == "/refusal" ? "HTTP/1.1 503 X\r\nContent-Length: 1000\r\n\r\nno" : "HTTP/1.1 200 X\r\nX: y");
        to.hold();
        return false;
    });
    std::optional<Result<Reply>> headers;
    const auto call = client->start(
        {.path = "/headers"}, [](std::string_view) -> Status { return {}; },
        [&](Result<Reply> done) { headers = std::move(done); });
    const auto refusal = get({.path = "/refusal"});
    ASSERT_TRUE(refusal) << refusal.error().text();
    EXPECT_EQ(refusal->status, 503);
    EXPECT_EQ(refusal->body, "no");
    while (!headers) (void)loop.run_once(1s);
    ASSERT_FALSE(*headers);
    EXPECT_EQ(headers->error().kind, ErrorKind::unreachable);
}

// What is accepted may be endless, as a watch is; it may be silent for as long as it likes, too.
TEST_F(HttpTest, AFloodOfWhatIsAcceptedLeavesTheLoopToOthers) {
    most = SIZE_MAX;
    const auto ended = std::make_shared<std::atomic<bool>>(false);  // the server's thread ends after this test
    serve([ended](const std::string&, const std::string&, const Connection& to) {
        to.begin();
        const std::string bytes(64 << 10, 'x');
        while (!*ended) to.chunk(bytes);
        return false;
    });
    std::size_t taken = 0;
    std::optional<Result<Reply>> done;
    auto call = client->start(
        {.path = "/"},
        [&](std::string_view piece) -> Status {
            taken += piece.size();
            usleep(200);  // the server is faster
            return {};
        },
        [&](Result<Reply> reply) { done = std::move(reply); });
    ASSERT_TRUE(call);
    int fired = 0;
    auto timer = loop.add_timer([&] { fired++; });
    ASSERT_TRUE(timer);
    timer->arm_in(0s);  // once: what is armed anew is behind all that waits
    while (taken < (std::size_t{8} << 20U)) (void)loop.run_once(1s);
    EXPECT_GE(fired, 1);
    EXPECT_FALSE(done);
    *ended = true;
    call->reset();
}

TEST_F(HttpTest, TheReadersErrorEndsTheRequest) {
    serve([](const std::string&, const std::string&, const Connection& to) {
        to.reply(200, std::string(100'000, 'x'));
        return true;
    });
    const auto reply = get({.path = "/"});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text(), "it: too much");
}

// A redirect could lead anywhere, with the token.
TEST_F(HttpTest, FollowsNoRedirect) {
    serve([this](const std::string&, const std::string&, const Connection& to) {
        asked++;
        to.reply(302, "", "Location: /other\r\n");
        return true;
    });
    const auto reply = get({.path = "/", .bearer_token = "t"});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 302);
    EXPECT_EQ(asked, 1);
}

// A watch that begins, and is silent then, on the connection that this request might have shared.
TEST_F(HttpTest, ARequestDoesNotWaitForAnotherOnesConnection) {
    serve([](const std::string&, const std::string& path, const Connection& to) {
        if (path == "/x") {
            to.reply(200, "body");
            return true;
        }
        usleep(20'000);
        to.begin();
        to.hold();
        return false;
    });
    const auto watch = client->start(
        {.path = "/watch"}, [](std::string_view) -> Status { return {}; }, [](const Result<Reply>&) {});
    ASSERT_TRUE(watch);
    const auto reply = get({.path = "/x", .timeout = 5s});
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(body, "body");
}

TEST_F(HttpTest, ACallThatIsCancelledIsNotHeardOfAgain) {
    serve([](const std::string&, const std::string&, const Connection& to) {
        to.reply(200, "body");
        return true;
    });
    bool heard = false;
    {
        auto call = client->start(
            {.path = "/"},
            [&](std::string_view) -> Status {
                heard = true;
                return {};
            },
            [&](const Result<Reply>&) { heard = true; });
        ASSERT_TRUE(call);
    }
    EXPECT_TRUE(get({.path = "/"}));
    EXPECT_FALSE(heard);
}

TEST_F(HttpTest, AClosedPortIsUnreachable) {
    serve([](const std::string&, const std::string&, const Connection&) { return false; });
    server.reset();
    const auto reply = get({.path = "/"});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().kind, ErrorKind::unreachable);
}

}  // namespace
}  // namespace evictd::http
