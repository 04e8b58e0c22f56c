// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Several calls at a time: whose answer is whose, and what ends them.
#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "cri/connection.hpp"
#include "fakes/grpc_server.hpp"
#include "fakes/protobuf_bytes.hpp"
#include "fakes/temp_dir.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

using namespace std::chrono_literals;
using Call = fakes::GrpcServer::Call;
using proto::framed;
using testing::HasSubstr;

class CallsAtOnceTest : public ::testing::Test {
protected:
    // Answers with the request.
    static void echo(const Call& call) {
        call.begin();
        call.data(call.request());
        call.end(0);
    }
    // As a shim that hangs: until end_hanging().
    void hang() {
        std::unique_lock lock(mutex);
        news.wait_for(lock, 60s, [this] { return is_over; });
    }
    void end_hanging() {
        const std::scoped_lock lock(mutex);
        is_over = true;
        news.notify_all();
    }
    void serve(std::function<void(const Call&)> handler) { server.emplace(socket, std::move(handler)); }
    static std::vector<std::string> numbers(std::size_t count) {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < count; i++) all.push_back("request " + std::to_string(i));
        return all;
    }
    Status ask(const std::vector<std::string>& requests, Duration limit = 60s, Duration all = 60s) {
        return connection->call_each(
            {"Service", "Method", requests, at_once, limit, sys::SystemClock().monotonic() + all},
            [&](std::size_t number, const Answer& answer) -> Status {
                answers[number] = answer;
                return {};
            });
    }

    const fakes::TempDir directory;
    const std::string socket = directory / "runtime.sock";
    std::size_t at_once = most_calls_at_once;
    std::map<std::size_t, Answer> answers;
    std::mutex mutex;
    std::condition_variable news;
    bool is_over = false;
    std::size_t under_way = 0;
    std::size_t most = 0;  // under way
    std::size_t arrived = 0;
    std::unique_ptr<Connection> connection = std::move(*Connection::make(socket));
    std::optional<fakes::GrpcServer> server;  // the last member: its threads use the others
};

TEST_F(CallsAtOnceTest, EachAnswerComesWithTheNumberOfItsRequest) {
    serve([&](const Call& call) {
        {
            std::unique_lock lock(mutex);
            most = std::max(most, ++under_way);
            if (arrived < at_once) {  // the first ones wait for each other
                ++arrived;
                news.notify_all();
                news.wait_for(lock, 60s, [&] { return arrived == at_once; });
            }
            --under_way;
        }
        echo(call);
    });
    const auto requests = numbers(5 * at_once);
    const auto asked = ask(requests);
    ASSERT_TRUE(asked) << asked.error().text();
    ASSERT_EQ(answers.size(), requests.size());
    for (const auto& [number, answer] : answers) EXPECT_EQ(answer.message, requests[number]);
    EXPECT_EQ(most, at_once);
}

TEST_F(CallsAtOnceTest, OneAtATimeIsThatToo) {
    at_once = 1;
    serve([this](const Call& call) {
        {
            const std::scoped_lock lock(mutex);
            most = std::max(most, ++under_way);
        }
        call.begin();
        call.data(call.request());
        {
            const std::scoped_lock lock(mutex);
            --under_way;
        }
        call.end(0);
    });
    ASSERT_TRUE(ask(numbers(20)));
    EXPECT_EQ(answers.size(), 20U);
    EXPECT_EQ(most, 1U);
}

TEST_F(CallsAtOnceTest, AMessageThatIsTooLargeForAnObjectIsAnError) {
    serve([](const Call& call) {
        call.begin();
        call.data(framed(std::string(most_of_an_object + 1, 'x')));
        call.end(0);
    });
    const auto asked = ask(numbers(3));
    ASSERT_FALSE(asked);
    EXPECT_THAT(asked.error().why, HasSubstr("is the most"));
    at_once = 1;
    EXPECT_TRUE(ask(numbers(3))) << "one at a time there is room for it";
}

TEST_F(CallsAtOnceTest, ARefusalIsAnAnswer) {
    serve([](const Call& call) {
        if (call.request() == framed("request 1")) return call.refuse(5, "not found");
        echo(call);
    });
    ASSERT_TRUE(ask(numbers(3)));
    EXPECT_EQ(answers[1].code, 5);
    EXPECT_EQ(answers[2].message, "request 2");
    EXPECT_TRUE(ask({}));
}

TEST_F(CallsAtOnceTest, TheFirstErrorEndsThemAndTheNextCallsConnectAnew) {
    serve([this](const Call& call) { call.request() == framed("request 0") ? hang() : echo(call); });
    const auto requests = numbers(most_calls_at_once);
    const auto failed = connection->call_each(
        {"Service", "Method", requests, most_calls_at_once, 60s, sys::SystemClock().monotonic() + 60s},
        [](std::size_t number, const Answer&) -> Status {
            return number == 3 ? fail(ErrorKind::invalid, "an answer", "not understood") : Status{};
        });
    end_hanging();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().why, "not understood");
    serve(echo);
    EXPECT_TRUE(ask(numbers(2)));
}

TEST_F(CallsAtOnceTest, OneThatHangsIsAnError) {
    serve([this](const Call& call) { call.request() == framed("request 0") ? hang() : echo(call); });
    const auto asked = ask(numbers(20), 200ms);
    end_hanging();
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().kind, ErrorKind::unreachable);
    EXPECT_THAT(asked.error().what, HasSubstr("Method"));
    EXPECT_FALSE(answers.contains(0));
}

TEST_F(CallsAtOnceTest, AfterTheEndNoneIsBegun) {
    bool is_asked = false;
    serve([&](const Call& call) {
        is_asked = true;
        echo(call);
    });
    const auto asked = ask(numbers(3), 60s, 0s);
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().kind, ErrorKind::unreachable);
    EXPECT_EQ(asked.error().why, "no time is left: 0 of 3 calls were answered");
    server.reset();
    EXPECT_FALSE(is_asked);
}

TEST_F(CallsAtOnceTest, NoRuntimeIsAnError) {
    const auto asked = ask(numbers(3));
    ASSERT_FALSE(asked);
    EXPECT_THAT(asked.error().text(), HasSubstr("is not there"));
}

TEST_F(CallsAtOnceTest, CancelEndsThem) {
    serve([this](const Call&) {
        connection->cancel();
        hang();
    });
    const auto asked = ask(numbers(3));
    end_hanging();
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().why, "the agent ends");
}

}  // namespace
}  // namespace evictd::cri
