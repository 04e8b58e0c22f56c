// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which socket is the container runtime's: the kubelet's containerRuntimeEndpoint, or one where runtimes usually have
// theirs. It connects to none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::cri {

// Of containerd and CRI-O.
[[nodiscard]] const std::vector<std::string>& usual_sockets();

// The socket's path. None: nothing is configured, and there is none of the usual ones. Error: `configured` is no
// endpoint of this machine ("unix:///run/containerd/containerd.sock", or a path), or one of the usual ones is not to
// be trusted. Whether the one that is configured is there is not looked at: the runtime may start later.
[[nodiscard]] Result<std::optional<std::string>> find_endpoint(const std::string& configured,
                                                               const std::vector<std::string>& usual = usual_sockets());

// The same for a program that outlives the runtime, or is started before it: looked for until it is found. What was
// found stays: while the runtime is started again, a socket that another has left is not taken for it.
class Endpoint {
public:
    explicit Endpoint(std::string configured, std::vector<std::string> usual = usual_sockets())
        : configured_(std::move(configured)), usual_(std::move(usual)) {}

    // Thread-safe, as the other. It looks at directories. Error: as find_endpoint(), or there is none yet
    // (unreachable).
    [[nodiscard]] Result<std::string> find();
    // What find() found; empty: nothing yet.
    [[nodiscard]] std::string found() const;

private:
    const std::string configured_;
    const std::vector<std::string> usual_;
    mutable sys::PiMutex mutex_;
    std::string found_;  // under the mutex
};

using EndpointPtr = std::shared_ptr<Endpoint>;

}  // namespace evictd::cri
