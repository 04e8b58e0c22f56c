// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One client of the status socket, from its request to the last byte of its answer. Never waits for it: what a client
// does not read fills a bounded buffer, and a full one ends the session.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "codec/event.hpp"
#include "codec/status_request.hpp"
#include "evictd/model/result.hpp"
#include "publish/event_log_reader.hpp"
#include "publish/status_document.hpp"
#include "sys/clock.hpp"
#include "sys/fd.hpp"
#include "sys/loop.hpp"

namespace evictd::publish {

// The pods' sockets as they are now; an error: they are not counted here. Called in the publishing lane.
using ReadSockets = std::function<Result<SocketsReading>()>;

// What sessions need of the agent; outlives them.
struct StatusServices {
    sys::Loop& loop;
    const sys::Clock& clock;
    const StatusBoard& board;
    std::string event_log_path;
    int event_log_max_files = 0;
    std::function<void()> request_look;  // asks the agent for a look now; may be empty
    ReadSockets sockets;                 // may be empty
};

class StatusSession {
public:
    static Result<std::unique_ptr<StatusSession>> make(const StatusServices& services, sys::Fd socket);
    StatusSession(const StatusSession&) = delete;
    StatusSession& operator=(const StatusSession&) = delete;
    ~StatusSession() = default;

    // The connection is closed; the owner takes it away, but not from inside one of its calls.
    [[nodiscard]] bool ended() const { return state_ == State::ended; }
    // The last of its answer, then the end.
    void refuse(const Error& error);
    // A look was published. Answers a client that waits for one.
    void looked(const Tick& tick);
    // An event happened; `line` is its JSON.
    void happened(const codec::Event& event, const std::string& line);

private:
    enum class State : std::uint8_t { reading, waiting_for_look, backlog, following, closing, ended };

    StatusSession(const StatusServices& services, sys::Fd socket);
    Status watch();
    void on_readable();
    void on_elapsed();
    void on_hang_up();
    void answer(std::string_view line);
    void answer_status();
    void wait_for_look();
    void start_events();
    void read_backlog();
    [[nodiscard]] bool wanted(const codec::Event& event) const;
    void send_line(std::string_view line);
    void flush();
    void close_when_sent();
    [[nodiscard]] bool send_pending();
    void end();

    const StatusServices& services_;
    sys::Fd socket_;
    sys::Fd write_end_;  // a duplicate, for the loop
    State state_ = State::reading;
    std::string request_text_;
    codec::StatusRequest request_;
    std::optional<WallTime> since_;
    MonotonicTime asked_at_;
    std::optional<EventLogReader> log_;
    std::string pending_;
    std::size_t sent_ = 0;  // of pending_
    sys::Source readable_;
    sys::Source writable_;
    sys::Timer deadline_;
};

}  // namespace evictd::publish
