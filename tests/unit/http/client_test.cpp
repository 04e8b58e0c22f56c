// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the client makes of a server's replies. TLS is tested against a real API server (tests/kube).
#include "http/client.hpp"

#include <atomic>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fakes/http_server.hpp"

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
