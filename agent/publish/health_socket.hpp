// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether the agent is alive, for probes: who connects is sent one line and hung up on. Nothing is read from a client,
// so none can hold it up. Beside the status socket, whose lane may wait for a disk.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "evictd/model/result.hpp"
#include "publish/unix_acceptor.hpp"
#include "sys/loop.hpp"

namespace evictd::publish {

// Where it is, given where the status socket is.
[[nodiscard]] std::string health_socket_path(const std::string& status_socket_path);

class HealthSocket {
public:
    // The line, without its newline; called for each connection, in the loop's thread.
    using Answer = std::function<std::string()>;
    static Result<std::unique_ptr<HealthSocket>> make(sys::Loop& loop, const std::string& path, Answer answer);
    HealthSocket(const HealthSocket&) = delete;
    HealthSocket& operator=(const HealthSocket&) = delete;
    ~HealthSocket() = default;

private:
    explicit HealthSocket(Answer answer) : answer_(std::move(answer)) {}
    void on_connection(const sys::Fd& connection);

    Answer answer_;
    std::unique_ptr<UnixAcceptor> acceptor_;
};

}  // namespace evictd::publish
