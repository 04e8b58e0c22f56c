// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests beside the watch, against a server that is slow, refuses, cuts connections off or sends too much.
#include "kube/api_server.hpp"

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cluster_pods_fixture.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

// The replies in the order in which they came.
class Replies {
public:
    port::ApiServer::OnReply take() {
        return [this](const Result<port::ApiReply>& reply) {
            const std::scoped_lock lock(mutex_);
            all_.push_back(reply);
            came_.notify_all();
        };
    }
    // Waits until there are so many.
    std::vector<Result<port::ApiReply>> wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(came_.wait_for(lock, patience, [&] { return all_.size() >= count; })) << all_.size();
        return all_;
    }
    std::size_t size() {
        const std::scoped_lock lock(mutex_);
        return all_.size();
    }

private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<Result<port::ApiReply>> all_;
};

// What the fake server does with a list and a watch: an empty list, and a watch that lasts.
bool serve_pods(const std::string& path, const Connection& to) {
    if (is_watch(path)) {
        to.begin();
        to.hold();
        return false;
    }
    to.reply(200, list_json(""));
    return true;
}
bool is_pods(const std::string& path) { return path.starts_with("/api/v1/pods?"); }

class ApiServerTest : public ClusterPodsTest {
protected:
    port::ApiRequest urgent(const std::string& path, Duration timeout = 5s) {
        return {.method = "GET", .path = path, .timeout = timeout, .priority = port::ApiPriority::eviction};
    }
    Result<port::ApiReply> ask(port::ApiRequest request) {
        const auto before = replies.size();
        EXPECT_TRUE(source->api()->send(std::move(request), replies.take()));
        const auto all = replies.wait_for(before + 1);
        return all.size() > before ? all[before] : fail(ErrorKind::failed, "test", "no reply came");
    }
    Replies replies;
    Gate gate;
    std::atomic<int> asked = 0;
};

TEST_F(ApiServerTest, HandsBackWhatTheServerAnswers) {
    const auto end = serve([](const std::string& method, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        if (path == "/yes") to.reply(200, R"({"kind":")" + method + R"(","new":{"unknown":[1]}})");
        if (path == "/limit") to.reply(429, "later", "Retry-After: 7\r\n");
        if (path.starts_with("/code/")) to.reply(std::stoi(path.substr(6)), "why not");
        return true;
    });
    const auto yes = ask(urgent("/yes"));
    ASSERT_TRUE(yes);
    EXPECT_TRUE(yes->accepted());
    EXPECT_EQ(yes->body, R"({"kind":"GET","new":{"unknown":[1]}})");
    const auto limited = ask(urgent("/limit"));
    ASSERT_TRUE(limited);
    EXPECT_EQ(limited->status, 429);
    EXPECT_EQ(limited->retry_after, 7s);
    EXPECT_EQ(limited->body, "later");
    for (const long code : {400L, 401L, 403L, 404L, 409L, 422L, 500L, 503L}) {
        const auto reply = ask(urgent("/code/" + std::to_string(code)));
        ASSERT_TRUE(reply) << code;
        EXPECT_EQ(reply->status, code);
        EXPECT_EQ(reply->body, "why not");
    }
}

TEST_F(ApiServerTest, AnAnswerThatIsLateCutOffOrTooLargeIsAnError) {
    const auto end = serve([](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        if (path == "/cut") to.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        if (path == "/late") to.hold();
        if (path == "/much") to.reply(200, std::string(ApiServer::most_of_a_body + 1, 'x'));
        if (path == "/most") to.reply(200, std::string(ApiServer::most_of_a_body, 'x'));
        return path == "/most";
    });
    EXPECT_FALSE(ask(urgent("/cut")));
    EXPECT_FALSE(ask(urgent("/late", 50ms)));
    const auto much = ask(urgent("/much"));
    ASSERT_FALSE(much);
    EXPECT_NE(much.error().text().find("1 MiB"), std::string::npos) << much.error().text();
    const auto most = ask(urgent("/most"));
    ASSERT_TRUE(most) << most.error().text();
    EXPECT_EQ(most->body.size(), ApiServer::most_of_a_body);
}

TEST_F(ApiServerTest, SendsWhatWasAskedForBeforeItHadAConnection) {
    ClusterPods early("of a test", [] { return fail(ErrorKind::failed, "kubeconfig", "is missing"); }, "n1", {},
                      {.first_back_off = 10ms});
    ASSERT_TRUE(early.api()->send(urgent("/x"), replies.take()));
    EXPECT_EQ(replies.size(), 0U);
    ASSERT_TRUE(early.start(listener.hear()));
    const auto all = replies.wait_for(1);
    ASSERT_FALSE(all.empty());
    ASSERT_FALSE(all[0]);
    EXPECT_NE(all[0].error().text().find("is missing"), std::string::npos);
}

TEST_F(ApiServerTest, EvictionsAreBoundedAndNotHeldUpByOthers) {
    const auto end = serve([this](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        if (path == "/held") {
            asked++;
            (void)gate.pass();
        }
        to.reply(200, "");
        return true;
    });
    auto other = urgent("/held");
    other.priority = port::ApiPriority::other;
    std::size_t taken = 0;
    while (source->api()->send(other, [](const auto&) {})) taken++;
    EXPECT_GE(taken, ApiServer::most_waiting);
    EXPECT_LE(taken, ApiServer::most_waiting + ApiServer::most_others_under_way);
    EXPECT_TRUE(ask(urgent("/x"))) << "an eviction's request is sent at once";
    EXPECT_LE(asked, static_cast<int>(ApiServer::most_others_under_way));
    EXPECT_EQ(source->api()->figures().dropped, 1U);
    gate.open();
}

TEST_F(ApiServerTest, OthersAreLimitedInRate) {
    const auto end = serve([](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        to.reply(200, "");
        return true;
    });
    const auto began = sys::SystemClock().monotonic();
    for (int i = 0; i < 12; i++) ASSERT_TRUE(source->api()->send({.path = "/x"}, replies.take()));
    (void)replies.wait_for(12);
    EXPECT_GE(sys::SystemClock().monotonic() - began, 300ms) << "ten at once, then five a second";
}

TEST_F(ApiServerTest, AServerThatAsksForAPauseGetsOneFromAllOthers) {
    const auto end = serve([this](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        if (path == "/other" && asked++ == 0) {
            to.reply(429, "", "Retry-After: 1\r\n");
        } else {
            to.reply(200, "");
        }
        return true;
    });
    const auto began = sys::SystemClock().monotonic();
    const auto refused = ask({.path = "/other"});
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 429);
    EXPECT_TRUE(ask(urgent("/urgent")));
    EXPECT_LT(sys::SystemClock().monotonic() - began, 900ms) << "an eviction does not wait";
    EXPECT_TRUE(ask({.path = "/other"}));
    EXPECT_GE(sys::SystemClock().monotonic() - began, 1s);
}

// A DELETE that was withdrawn meanwhile must not be sent after the pause.
TEST_F(ApiServerTest, WhatWaitedTooLongIsAnsweredAndNeverSent) {
    const auto end = serve([this](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        if (path == "/old") asked++;
        to.reply(path == "/limit" ? 429 : 200, "", "Retry-After: 1\r\n");
        return true;
    });
    ASSERT_TRUE(ask({.path = "/limit"}));
    const auto began = sys::SystemClock().monotonic();
    const auto old = ask({.method = "DELETE", .path = "/old", .longest_wait = 50ms});
    EXPECT_LT(sys::SystemClock().monotonic() - began, 900ms) << "answered when it is too old";
    ASSERT_FALSE(old);
    EXPECT_EQ(old.error().kind, ErrorKind::unreachable);
    EXPECT_TRUE(ask({.path = "/x"})) << "after the pause";
    EXPECT_EQ(asked, 0);
}

TEST_F(ApiServerTest, WhatWaitedTooLongLeavesItsPlaceToOthers) {
    ClusterPods early("of a test", [] { return fail(ErrorKind::failed, "kubeconfig", "is missing"); }, "n1", {},
                      {.first_back_off = 10ms});
    for (std::size_t i = 0; i < ApiServer::most_waiting; i++) {
        ASSERT_TRUE(early.api()->send({.path = "/old", .longest_wait = 1s}, replies.take()));
    }
    EXPECT_FALSE(early.api()->send({.path = "/x"}, [](const auto&) {}));
    usleep(1'010'000);
    EXPECT_TRUE(early.api()->send({.path = "/x"}, [](const auto&) {}));
    EXPECT_EQ(replies.size(), 0U) << "they are answered in the server's thread";
    ASSERT_TRUE(early.start(listener.hear()));
    for (const auto& reply : replies.wait_for(ApiServer::most_waiting)) {
        ASSERT_FALSE(reply);
        EXPECT_NE(reply.error().text().find("waited too long"), std::string::npos) << reply.error().text();
    }
}

TEST_F(ApiServerTest, BodiesAndTheirTypeAreSentUpToALimit) {
    const auto end = serve([](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        to.reply(200, "");
        return true;
    });
    auto request = urgent("/x");
    request.body = std::string(ApiServer::most_of_a_body + 1, 'x');
    EXPECT_FALSE(source->api()->send(request, replies.take()));
    EXPECT_EQ(replies.size(), 0U);
}

TEST_F(ApiServerTest, WhatIsNotAnsweredWhenItEndsIsDroppedAndNothingMoreIsTaken) {
    const auto end = serve([this](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        asked++;
        to.hold();
        return false;
    });
    const auto api = source->api();
    const auto held = std::make_shared<int>(1);
    ASSERT_TRUE(api->send(urgent("/held"), [held, taken = replies.take()](const auto& reply) { taken(reply); }));
    for (int i = 0; i < 1000 && asked == 0; i++) usleep(1000);
    ASSERT_EQ(asked, 1);
    source.reset();
    EXPECT_EQ(held.use_count(), 1) << "the function was destroyed";
    EXPECT_EQ(replies.size(), 0U);
    EXPECT_FALSE(api->send(urgent("/x"), replies.take()));
}

TEST_F(ApiServerTest, CountsRequestsByMethodAndCode) {
    const auto end = serve([](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        to.reply(path == "/no" ? 403 : 200, "");
        return path != "/cut";
    });
    auto patch = urgent("/no");
    patch.method = "PATCH";
    (void)ask(patch);
    (void)ask(patch);
    (void)ask(urgent("/yes"));
    const auto figures = source->api()->figures();
    const auto count = [&](const std::string& method, long code) {
        std::uint64_t all = 0;
        for (const auto& row : figures.requests) all += row.method == method && row.code == code ? row.count : 0;
        return all;
    };
    EXPECT_EQ(count("PATCH", 403), 2U);
    EXPECT_GE(count("GET", 200), 1U);
    std::uint64_t durations = 0;
    for (const auto number : figures.durations) durations += number;
    EXPECT_GE(durations, 3U);
    EXPECT_GT(figures.time_spent, 0ns);
}

// The certificate or the server may have changed: what is loaded is loaded again after no answer, and after 401.
TEST_F(ApiServerTest, AccessIsLoadedAgainAfterAFailure) {
    const auto end = serve([](const std::string&, const std::string& path, const Connection& to) {
        if (is_pods(path)) return serve_pods(path, to);
        to.reply(path == "/old" ? 401 : 200, "");
        return path != "/cut";
    });
    ASSERT_TRUE(ask(urgent("/yes")));
    const int before = loads;
    ASSERT_TRUE(ask(urgent("/yes")));
    EXPECT_EQ(loads, before);
    EXPECT_EQ(ask(urgent("/old"))->status, 401);
    ASSERT_TRUE(ask(urgent("/yes")));
    EXPECT_EQ(loads, before + 1);
}

}  // namespace
}  // namespace evictd::kube
