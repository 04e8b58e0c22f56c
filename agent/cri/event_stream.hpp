// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// GetContainerEvents as port::RuntimeEvents. The call is made again when its stream ends. Events are not interpreted.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/port/container_runtime.hpp"
#include "http/client.hpp"
#include "http/grpc_messages.hpp"
#include "sys/lane.hpp"

namespace evictd::cri {

// Others are for tests.
struct EventTimes {
    // After a failure; doubled with each one after the other, 64 times as long at most.
    Duration first_back_off = std::chrono::seconds(1);
    // A stream that lasted this long was none.
    Duration steady = std::chrono::seconds(10);
    // A runtime sends nothing before the first event. One that has no events says so within a few milliseconds.
    Duration settle = std::chrono::milliseconds(250);
    // Of a runtime without events.
    Duration unsupported = std::chrono::minutes(5);
};

class EventStream final : public port::RuntimeEvents {
public:
    // `lane` must outlive it. All in the lane's thread, start() and the destructor too.
    EventStream(sys::Lane& lane, std::string socket, EventTimes times = {})
        : lane_(lane), socket_(std::move(socket)), times_(times) {}
    Status start(OnEvent on_event, OnState on_state) override;

private:
    void on_time();
    Status open();
    Status on_piece(std::string_view piece);
    void on_done(const Result<http::Reply>& reply);
    void fail_with(Error why);
    void end(State state, std::optional<Error> why, Duration pause);
    void note_listening();

    sys::Lane& lane_;
    std::string socket_;
    EventTimes times_;
    OnEvent on_event_;
    OnState on_state_;
    std::optional<State> state_;
    MonotonicTime listening_since_;
    int failures_ = 0;  // one after the other
    std::optional<std::string> fault_;
    http::GrpcMessages messages_;
    sys::Timer timer_;  // the next attempt, or the end of `settle`
    std::unique_ptr<http::Client> client_;
    http::Client::CallPtr call_;  // the last member: its functions use the others
};

}  // namespace evictd::cri
