// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The unix socket that the CLI talks to: who may, how many at a time, and that only one agent listens. What is said is
// status_session's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/port/publisher.hpp"
#include "publish/event_stream.hpp"
#include "publish/status_session.hpp"
#include "publish/unix_acceptor.hpp"

namespace evictd::publish {

struct StatusSocketOptions {
    std::string path = "/run/evictd/evictd.sock";
    std::string node;
    std::string event_log_path;  // for events of the past; empty: there is no log
    int event_log_max_files = 0;
    std::function<void()> request_look;  // any thread may call it; it must not wait
    ReadSockets sockets;
    std::shared_ptr<EventStream> events = std::make_shared<EventStream>();
};

// In the lane of its Fanout, after the EventLog, whose file it reads, and the Snapshot, which publishes on `board`.
class StatusSocket final : public port::Publisher {
public:
    // Kind `failed` when another agent listens there. A socket file without a listener is removed.
    static Result<std::unique_ptr<StatusSocket>> make(sys::Loop& loop, const sys::Clock& clock,
                                                      const StatusBoard& board, StatusSocketOptions options);
    StatusSocket(const StatusSocket&) = delete;
    StatusSocket& operator=(const StatusSocket&) = delete;
    ~StatusSocket() override;  // takes the socket file away, if it still is ours

    void publish(const RecordPtr& record) override;

private:
    StatusSocket(sys::Loop& loop, const sys::Clock& clock, const StatusBoard& board, StatusSocketOptions options);
    void admit(sys::Fd connection);
    void sweep();

    StatusServices services_;
    std::string path_;
    std::string node_;
    std::shared_ptr<EventStream> events_;
    std::unique_ptr<UnixAcceptor> acceptor_;
    std::vector<std::unique_ptr<StatusSession>> sessions_;
};

}  // namespace evictd::publish
