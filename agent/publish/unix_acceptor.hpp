// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Accepts the connections of a listening unix socket in its loop. Where the process has no descriptor left, which a
// local user may have caused, it pauses: the kernel reports a connection that waits again and again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "evictd/model/result.hpp"
#include "publish/unix_listener.hpp"
#include "sys/loop.hpp"

namespace evictd::publish {

class UnixAcceptor {
public:
    // Called for each connection, in the loop's thread.
    using OnConnection = std::function<void(sys::Fd)>;
    // How long no connection is accepted after accept(2) failed for want of descriptors or memory.
    static constexpr Duration pause = std::chrono::milliseconds(200);

    static Result<std::unique_ptr<UnixAcceptor>> make(sys::Loop& loop, UnixListener listener,
                                                      OnConnection on_connection);
    UnixAcceptor(const UnixAcceptor&) = delete;
    UnixAcceptor& operator=(const UnixAcceptor&) = delete;
    ~UnixAcceptor() = default;

private:
    UnixAcceptor(sys::Loop& loop, UnixListener listener, OnConnection on_connection)
        : loop_(loop), listener_(std::move(listener)), on_connection_(std::move(on_connection)) {}
    Status watch();
    void resume();
    void accept();

    sys::Loop& loop_;
    UnixListener listener_;
    OnConnection on_connection_;
    sys::Source readable_;  // none: paused
    sys::Timer resume_;
};

}  // namespace evictd::publish
