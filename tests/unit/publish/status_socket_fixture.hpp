// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent's status socket and a client.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "codec/event_json.hpp"
#include "publish/event_log.hpp"
#include "publish/fanout.hpp"
#include "publish/snapshot.hpp"
#include "publish/status_client.hpp"
#include "publish/status_socket.hpp"
#include "unit/publish/publish_fixture.hpp"

namespace evictd::publish {

inline codec::StatusRequest events(bool follow, std::optional<Duration> since = std::nullopt, std::string reason = {}) {
    codec::StatusRequest request;
    request.verb = codec::RequestVerb::events;
    request.follow = follow;
    request.since = since;
    request.reason = std::move(reason);
    return request;
}

// An agent's publishing side, complete, in a directory of its own.
class StatusSocketTest : public testing::Test {
protected:
    void SetUp() override {
        auto made = Fanout::make(4096);
        ASSERT_TRUE(made);
        fanout_ = std::move(*made);
        add<EventLog>(RotatingFileOptions{log_path(), 1_MiB, 4}, "node-1");
        codec::AgentStatus agent;
        agent.node = "node-1";
        agent.version = "0.1.0";
        board_.set_agent({.status = agent, .eviction = {}});
        add<Snapshot>(board_, LossCounters{});
    }

    template <class P, class... Args>
    void add(Args&&... args) {
        ASSERT_TRUE(fanout_->add([&](sys::Loop& /*loop*/) -> Result<std::unique_ptr<port::Publisher>> {
            return std::make_unique<P>(std::forward<Args>(args)...);
        }));
    }

    Status listen(std::function<void()> request_look = {}, std::unique_ptr<sys::Clock> clock = nullptr) {
        if (clock) clock_ = std::move(clock);
        StatusSocketOptions options{path(), "node-1", log_path(), 4, std::move(request_look), {}};
        return fanout_->add([&](sys::Loop& loop) -> Result<std::unique_ptr<port::Publisher>> {
            return StatusSocket::make(loop, *clock_, board_, options);
        });
    }

    Result<std::string> ask(codec::StatusRequest request = {}) {
        auto client = StatusClient::connect(path());
        if (!client) return tl::unexpected(client.error());
        return client->ask(request);
    }

    // The messages of all events there are.
    std::vector<std::string> read(const codec::StatusRequest& request) {
        std::vector<std::string> messages;
        auto client = StatusClient::connect(path());
        EXPECT_TRUE(client);
        const auto done = client->stream(request, [&](std::string_view line) {
            messages.push_back(codec::event_from_json(line)->message);
            return true;
        });
        EXPECT_TRUE(done);
        return messages;
    }

    std::string garbage(const std::string& text) {
        const auto socket = connect_raw(path());
        send_raw(socket, text);
        ::shutdown(socket.get(), SHUT_WR);
        return receive_all(socket);
    }

    // Returns when the lane has worked off all that was given to it.
    void settle() {
        std::ignore = fanout_->add(
            [](sys::Loop&) -> Result<std::unique_ptr<port::Publisher>> { return fail(ErrorKind::failed, "", ""); });
    }

    [[nodiscard]] std::string path() const { return directory_ / "run/evictd.sock"; }
    [[nodiscard]] std::string log_path() const { return directory_ / "events.jsonl"; }

    fakes::TempDir directory_;
    sys::SystemClock real_clock_;
    std::unique_ptr<sys::Clock> clock_ = std::make_unique<sys::SystemClock>();  // outlives the lane, which reads it
    StatusBoard board_;
    std::unique_ptr<Fanout> fanout_;
};

}  // namespace evictd::publish
