// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Events as they come, and what becomes of the stream.
#include "cri/event_stream.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/grpc_server.hpp"
#include "fakes/protobuf_bytes.hpp"
#include "fakes/temp_dir.hpp"

namespace evictd::cri {
namespace {

using namespace std::chrono_literals;
using Call = fakes::GrpcServer::Call;
using proto::bytes;
using proto::framed;
using proto::number;

class EventStreamTest : public ::testing::Test {
protected:
    void start() {
        lane = std::move(*sys::Lane::make("test-events"));
        ASSERT_TRUE(lane->post([this] {
            stream.emplace(*lane, socket, times);
            const auto started =
                stream->start([this](const RuntimeEvent& event) { note("event " + event.id); },
                              [this](port::RuntimeEvents::State state, const std::optional<Error>& why) {
                                  constexpr std::array<const char*, 3> names{"down", "listening", "unsupported"};
                                  note(names.at(static_cast<std::size_t>(state)) + (why ? ": " + why->why : ""));
                              });
            EXPECT_TRUE(started);
        }));
    }
    void TearDown() override {
        if (!lane) return;
        (void)lane->post([this] { stream.reset(); });
        lane->close();  // before its pointer is null
    }
    void note(const std::string& text) {
        const std::scoped_lock lock(mutex);
        seen.push_back(text);
        changed.notify_all();
    }
    // Waits until it was noted as often as that.
    bool is_seen(const std::string& text, std::ptrdiff_t times_seen = 1) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, 60s, [&] { return std::count(seen.begin(), seen.end(), text) >= times_seen; });
    }
    static void say(const Call& call, const std::string& id) { call.data(framed(bytes(1, id) + number(2, 1))); }
    const fakes::TempDir directory;
    const std::string socket = directory / "runtime.sock";
    EventTimes times{.first_back_off = 1ms, .steady = 60s, .settle = 1ms, .unsupported = 1ms};
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> seen;
    std::optional<EventStream> stream;
    std::unique_ptr<sys::Lane> lane;
    std::optional<fakes::GrpcServer> server;  // the last member: its threads use the others
};

TEST_F(EventStreamTest, EventsAreHandedOn) {
    server.emplace(socket, [](const Call& call) {
        call.begin();
        say(call, "c1");
        say(call, "c2");
        call.hold();
    });
    start();
    EXPECT_TRUE(is_seen("event c2"));
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(seen, (std::vector<std::string>{"listening", "event c1", "event c2"}));
}

TEST_F(EventStreamTest, ARuntimeThatSaysNothingIsListenedTo) {
    server.emplace(socket, [](const Call& call) { call.hold(); });
    start();
    EXPECT_TRUE(is_seen("listening"));
}

TEST_F(EventStreamTest, OneWithoutEventsIsAskedAgainAtTimes) {
    times.settle = 60s;
    std::atomic<int> calls = 0;
    server.emplace(socket, [&](const Call& call) {
        if (++calls < 3) return call.refuse(12, "unknown method");
        call.begin();
        say(call, "c1");
        call.hold();
    });
    start();
    EXPECT_TRUE(is_seen("event c1"));
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(seen, (std::vector<std::string>{"unsupported", "listening", "event c1"}));
}

TEST_F(EventStreamTest, AStreamThatEndsIsAskedForAgain) {
    times.settle = 60s;
    std::atomic<int> calls = 0;
    server.emplace(socket, [&](const Call& call) {
        call.begin();
        const int count = ++calls;
        if (count < 3) say(call, "c" + std::to_string(count));
        if (count == 2) return call.end(14);
        if (count == 3) call.hold();
    });
    start();
    EXPECT_TRUE(is_seen("event c2"));
    EXPECT_TRUE(is_seen("down: UNAVAILABLE: "));
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(seen.front(), "listening");
    EXPECT_EQ(std::count(seen.begin(), seen.end(), "event c1"), 1);
}

TEST_F(EventStreamTest, GarbageEndsIt) {
    server.emplace(socket, [](const Call& call) {
        call.begin();
        call.data(framed("garbage!"));
        call.hold();
    });
    start();
    EXPECT_TRUE(is_seen("down: sent an event that has an invalid wire type"));
}

TEST_F(EventStreamTest, OfOneThatIsTooLargeItIsKnownThatItWas) {
    server.emplace(socket, [](const Call& call) {
        call.begin();
        call.data(framed(bytes(1, "c1") + bytes(5, std::string(std::size_t{2} << 20U, 'x'))));
        say(call, "c2");
        call.hold();
    });
    start();
    EXPECT_TRUE(is_seen("event c2"));
    EXPECT_TRUE(is_seen("event "));
}

TEST_F(EventStreamTest, WithoutASocketItIsDown) {
    start();
    EXPECT_TRUE(is_seen("down: " + socket + " is not there"));
    server.emplace(socket, [](const Call& call) { call.hold(); });
    EXPECT_TRUE(is_seen("listening"));
    server.reset();
    EXPECT_TRUE(is_seen("down: " + socket + " is not there", 2));
}

}  // namespace
}  // namespace evictd::cri
