// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which socket is the container runtime's: the kubelet's containerRuntimeEndpoint, or one where runtimes usually have
// theirs. It connects to none.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::cri {

// Of containerd and CRI-O.
[[nodiscard]] const std::vector<std::string>& usual_sockets();

// That nothing is configured and none is there, with their paths.
[[nodiscard]] Error no_endpoint(const std::vector<std::string>& usual = usual_sockets());

// The socket's path. None: nothing is configured, and there is none of the usual ones. Error: `configured` is no
// endpoint of this machine ("unix:///run/containerd/containerd.sock", or a path), or one of the usual ones is not to
// be trusted. Whether the one that is configured is there is not looked at: the runtime may start later.
[[nodiscard]] Result<std::optional<std::string>> find_endpoint(const std::string& configured,
                                                               const std::vector<std::string>& usual = usual_sockets());

// The same for a program that outlives the runtime, or is started before it: looked for until one answers. That one
// stays: while the runtime is started again, a socket that another has left is not taken for it. Of the usual ones, a
// socket that does not answer may be such a one, and those after it are tried.
class Endpoint {
public:
    explicit Endpoint(std::string configured, std::vector<std::string> usual = usual_sockets())
        : configured_(std::move(configured)), usual_(std::move(usual)) {}

    // Thread-safe, as the other. It looks at directories. Error: as find_endpoint(), or there is none yet
    // (unreachable).
    [[nodiscard]] Result<std::string> find();
    // What find() found last; empty: nothing yet.
    [[nodiscard]] std::string found() const;
    // Whether a call to `socket`, which find() has named, was answered as a runtime answers.
    void note_call(const std::string& socket, bool answered);

private:
    const std::string configured_;
    const std::vector<std::string> usual_;
    mutable sys::PiMutex mutex_;
    std::string found_;        // under the mutex
    bool is_certain_ = false;  // likewise: it is configured, or has answered
    std::size_t first_ = 0;    // likewise: of the usual ones, which is looked at first
};

using EndpointPtr = std::shared_ptr<Endpoint>;

}  // namespace evictd::cri
