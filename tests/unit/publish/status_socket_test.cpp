// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The status socket from outside: every answer, every refusal, and who is thrown out. The client of the CLI asks.
#include "publish/status_socket.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>

#include "fakes/temp_dir.hpp"
#include "publish/status_client.hpp"
#include "publish/unix_address.hpp"
#include "sys/fd.hpp"
#include "unit/codec/sample_records.hpp"
#include "unit/publish/status_socket_fixture.hpp"

namespace evictd::publish {
namespace {

using namespace std::chrono_literals;
using codec::RequestVerb;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(StatusSocketTest, AnswersWithTheLastLook) {
    ASSERT_TRUE(listen());
    EXPECT_FALSE(json::parse(*ask()).contains("time"));
    fanout_->publish(shared(sample::evicting()));
    settle();
    const auto status = json::parse(*ask());
    EXPECT_EQ(status["signals"][0]["available"], "95Mi");
    EXPECT_EQ(status["node"], "node-1");
}

TEST_F(StatusSocketTest, StreamsTheEventsOfOneId) {
    ASSERT_TRUE(listen());
    fanout_->publish(shared(sample::calm()));
    fanout_->publish(notice("no id"));
    fanout_->publish(shared(sample::evicting()));
    fanout_->publish(shared(sample::evicted()));
    settle();
    const auto id = codec::events_of(sample::evicted())[0].id;
    const auto asked = [&](const std::string& wanted) {
        return read({.verb = codec::RequestVerb::events, .id = wanted}).size();
    };
    EXPECT_EQ(asked(id), 2U);
    EXPECT_EQ(asked(id.substr(0, 4)), 2U);
    EXPECT_EQ(asked("*"), 2U);
    EXPECT_EQ(asked("zz"), 0U);
}

TEST_F(StatusSocketTest, AsksForAFreshLookAndAnswersWithThat) {
    ASSERT_TRUE(listen([this] {
        auto tick = sample::calm();
        tick.observation.at = real_clock_.monotonic();
        tick.decision.why = "fresh";
        fanout_->publish(shared(tick));
    }));
    EXPECT_EQ(json::parse(*ask())["why"], "fresh");
}

TEST_F(StatusSocketTest, AnAgentThatDoesNotLookIsAnsweredForWithTheLastLook) {
    auto clock = std::make_unique<LaggingClock>(1s);  // the deadline of a look has passed at once
    fanout_->publish(shared(sample::calm()));
    ASSERT_TRUE(listen([] {}, std::move(clock)));
    EXPECT_EQ(json::parse(*ask())["why"], "Nothing to do: no threshold is met.");
}

TEST_F(StatusSocketTest, RanksThePodsOfTheLastLook) {
    ASSERT_TRUE(listen());
    codec::StatusRequest request;
    request.verb = RequestVerb::rank;
    EXPECT_FALSE(ask(request));
    fanout_->publish(shared(sample::calm()));
    settle();
    EXPECT_EQ(json::parse(*ask(request))["ranking"]["pods"][0]["name"], "hog");
}

TEST_F(StatusSocketTest, ReportsPastEventsFromTheLog) {
    auto clock = std::make_unique<LaggingClock>(0s, sample::start() + 1h);
    ASSERT_TRUE(listen({}, std::move(clock)));
    fanout_->publish(notice("old", sample::start()));
    fanout_->publish(notice("young", sample::start() + 55min));
    fanout_->publish(shared(AgentNotice{Notice::agent_stopped, sample::start() + 56min, "stopped", ""}));
    settle();
    EXPECT_THAT(read(events(false)), ElementsAre("old", "young", "stopped"));
    EXPECT_THAT(read(events(false, 10min)), ElementsAre("young", "stopped"));
    EXPECT_THAT(read(events(false, std::nullopt, "AgentStopped")), ElementsAre("stopped"));
    EXPECT_THAT(read(events(false, 1s)), IsEmpty());
}

TEST_F(StatusSocketTest, FollowingMissesNothingBetweenThePastAndNow) {
    auto clock = std::make_unique<LaggingClock>(0s, sample::start());
    ASSERT_TRUE(listen({}, std::move(clock)));
    for (int i = 0; i < 2000; ++i) fanout_->publish(notice(std::to_string(i), sample::start()));  // 250 KB of past
    auto client = StatusClient::connect(path());
    ASSERT_TRUE(client);
    int seen = 0;
    int wrong = 0;
    const auto done = client->stream(events(true, 1h), [&](std::string_view line) {
        wrong += codec::event_from_json(line)->message == std::to_string(seen) ? 0 : 1;
        if (seen < 1000) fanout_->publish(notice(std::to_string(2000 + seen), sample::start()));
        return ++seen < 3000;
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(seen, 3000);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(fanout_->dropped(), 0U);
}

TEST_F(StatusSocketTest, AFollowerOfOneReasonSeesOnlyThat) {
    ASSERT_TRUE(listen());
    auto client = StatusClient::connect(path());
    ASSERT_TRUE(client);
    std::string reason;
    auto tick = sample::evicting();
    tick.observation.wall = real_clock_.wall() + 1h;  // whether it is read back or heard live
    fanout_->publish(shared(tick));
    std::ignore = client->stream(events(true, 0s, "Evicting"), [&](std::string_view line) {
        reason = codec::event_from_json(line)->reason.text();
        return false;
    });
    EXPECT_EQ(reason, "Evicting");
}

TEST_F(StatusSocketTest, GarbageIsAnsweredWithAnErrorInOneLine) {
    ASSERT_TRUE(listen());
    EXPECT_THAT(garbage("hello\n"), HasSubstr("not a JSON object"));
    EXPECT_THAT(garbage("{\"verb\":\"evict\"}\n"), HasSubstr("verb 'evict' is not known"));
    EXPECT_THAT(garbage("{\"verb\":\"rank\",\"signal\":\"x\"}\n"), HasSubstr("signal 'x' is not known"));
    EXPECT_THAT(garbage("{\"verb\":\"events\",\"since_ms\":-1}\n"), HasSubstr("since_ms"));
    EXPECT_THAT(garbage("{\"verb\":\"events\",\"since_ms\":1e300}\n"), HasSubstr("since_ms"));
    EXPECT_THAT(garbage("\n"), HasSubstr("not a JSON object"));
    EXPECT_THAT(garbage(std::string(5000, '[')), HasSubstr("longer than 4096 bytes"));
    EXPECT_THAT(garbage(std::string("\0\xff\n", 3)), HasSubstr("not a JSON object"));
    EXPECT_EQ(garbage(""), "");
    EXPECT_TRUE(ask()) << "and it still answers the others";
}

TEST_F(StatusSocketTest, ARequestWithoutItsNewlineIsAnsweredWhenTheClientStopsWriting) {
    ASSERT_TRUE(listen());
    EXPECT_THAT(garbage("{\"verb\":\"status\"}"), HasSubstr("\"node\":\"node-1\""));
}

TEST_F(StatusSocketTest, AClientThatAsksNothingIsSentAway) {
    auto clock = std::make_unique<LaggingClock>(1h);
    ASSERT_TRUE(listen({}, std::move(clock)));
    EXPECT_EQ(receive_all(connect_raw(path())), "");
}

TEST_F(StatusSocketTest, AFollowerThatDoesNotReadIsDroppedWithALineThatReportsIt) {
    ASSERT_TRUE(listen());
    const auto slow = connect_raw(path());
    send_raw(slow, "{\"verb\":\"events\",\"follow\":true}\n");
    std::ignore = ask();  // later than slow's request: that has been read now
    const std::string big(20000, 'x');
    for (int i = 0; i < 100; ++i) {
        fanout_->publish(notice(big));
        settle();
    }
    const auto text = receive_all(slow);
    EXPECT_LT(text.size(), 2000000U);
    EXPECT_THAT(text.substr(text.rfind('\n', text.size() - 2) + 1),
                HasSubstr("the reader is too slow and was dropped"));
    EXPECT_TRUE(ask());
}

TEST_F(StatusSocketTest, TooManyClientsGetAnError) {
    ASSERT_TRUE(listen());
    std::vector<sys::Fd> clients;
    for (int i = 0; i < 16; ++i) clients.push_back(connect_raw(path()));
    const auto one_more = ask();
    ASSERT_FALSE(one_more);
    EXPECT_EQ(one_more.error().why, "too many clients");
    clients.clear();
    Result<std::string> again = fail(ErrorKind::failed, "", "");
    for (int i = 0; i < 1000 && !again; ++i) again = ask();  // the agent notices them going one by one
    EXPECT_TRUE(again);
}

TEST_F(StatusSocketTest, OnlyTheOwnerMayOpenItsFile) {
    ASSERT_TRUE(listen());
    struct stat made {};
    ASSERT_EQ(::stat(path().c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777U, 0600U);
}

TEST_F(StatusSocketTest, ASecondAgentIsRefusedAndLearnsWhichProcessListens) {
    ASSERT_TRUE(listen());
    const auto second = listen();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().why, "another evictd listens there, pid " + std::to_string(::getpid()));
    EXPECT_TRUE(ask()) << "the first one is untouched";
}

TEST_F(StatusSocketTest, ASocketThatADeadAgentLeftIsReplaced) {
    std::filesystem::create_directory(directory_ / "run");
    {
        const sys::Fd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const auto address = unix_address(path());
        ASSERT_EQ(::bind(dead.get(), generic(*address), sizeof(*address)), 0);
    }
    const auto before = StatusClient::connect(path());
    ASSERT_FALSE(before);
    EXPECT_EQ(before.error().kind, ErrorKind::unreachable);
    ASSERT_TRUE(listen());
    EXPECT_TRUE(ask());
}

TEST_F(StatusSocketTest, AFileOfAnotherKindIsLeftAlone) {
    std::filesystem::create_directory(directory_ / "run");
    std::ofstream(path()) << "precious";
    EXPECT_FALSE(listen());
    EXPECT_EQ(text_of(path()), "precious");
}

TEST_F(StatusSocketTest, TheEndRemovesItsFileAndNotifiesFollowers) {
    ASSERT_TRUE(listen());
    auto client = StatusClient::connect(path());
    ASSERT_TRUE(client);
    fanout_.reset();
    EXPECT_FALSE(std::filesystem::exists(path()));
    const auto ended = client->stream(events(true), [](std::string_view) { return true; });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind, ErrorKind::unreachable);
    const auto none = StatusClient::connect(path());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::unreachable);
    EXPECT_THAT(none.error().text(), HasSubstr("no agent is running (start it with 'evictd run'"));
}

TEST_F(StatusSocketTest, AFileThatAnotherAgentPutThereStays) {
    ASSERT_TRUE(listen());
    std::filesystem::remove(path());
    std::ofstream(path()) << "another's";
    fanout_.reset();
    EXPECT_TRUE(std::filesystem::exists(path()));
}

// An agent that is killed while it answers: half of the events are not all of them.
TEST(StatusClient, AStreamWithoutItsEndWasCutOff) {
    fakes::TempDir dir;
    const auto address = unix_address(dir / "socket");
    const sys::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_TRUE(address);
    ASSERT_EQ(::bind(listener.get(), generic(*address), sizeof(*address)), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    for (const std::string answer : {"{}\n", "{}\n{", "{}\n\n"}) {
        auto client = StatusClient::connect(dir / "socket");
        ASSERT_TRUE(client);
        {
            const sys::Fd agent(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
            ASSERT_EQ(::send(agent.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                      static_cast<ssize_t>(answer.size()));
        }
        int lines = 0;
        const auto read = client->stream({.verb = codec::RequestVerb::events}, [&](std::string_view) {
            lines++;
            return true;
        });
        EXPECT_EQ(lines, 1);
        EXPECT_EQ(read.has_value(), answer.ends_with("\n\n")) << answer;
        EXPECT_EQ(read ? "" : read.error().why,
                  answer.ends_with("\n\n") ? "" : "closed the connection before its answer was complete");
    }
}

TEST(StatusClient, APathThatIsTooLongIsAnError) {
    const auto client = StatusClient::connect("/" + std::string(200, 'x'));
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace evictd::publish
