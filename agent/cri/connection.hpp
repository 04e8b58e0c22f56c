// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Calls of gRPC with one answer, to the container runtime's socket: one after the other, each with a time limit. What
// is in a message is not known here.
//
// It is libcurl, which the agent has anyway, and not gRPC's own library: agent/README.md has what either costs.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "cri/endpoint.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "http/client.hpp"
#include "sys/loop.hpp"

namespace evictd::cri {

// The kubelet's limit (maxMsgSize of its remote runtime).
inline constexpr std::size_t most_of_an_answer = std::size_t{16} << 20U;

struct Answer {
    int code = 0;         // of gRPC
    std::string text;     // with a code other than 0: what the runtime says of it
    std::string message;  // with code 0
};

class Connection {
public:
    // Connects to nothing: libcurl is loaded, and the socket looked for, when the first call is made. Error: no
    // descriptor.
    static Result<std::unique_ptr<Connection>> make(EndpointPtr endpoint);
    static Result<std::unique_ptr<Connection>> make(std::string socket);

    // Blocks. `method`: "ListContainers", with its service: "runtime.v1.RuntimeService". Errors are those of
    // port::ContainerRuntime but for gRPC's codes; `what` names the method. After an error the next call makes a new
    // connection; the same where the runtime was started again in between.
    [[nodiscard]] Result<Answer> call(std::string_view service, std::string_view method, std::string_view request,
                                      Duration limit);
    // Thread-safe, final.
    void cancel();

private:
    Connection(EndpointPtr endpoint, sys::Loop loop) : endpoint_(std::move(endpoint)), loop_(std::move(loop)) {}
    Status open(const std::string& what);
    Result<Answer> exchange(const std::string& what, const http::Request& request);

    EndpointPtr endpoint_;
    std::string socket_;  // that the client is for
    sys::Loop loop_;
    std::atomic<bool> is_cancelled_ = false;
    std::unique_ptr<http::Client> client_;  // the last member: it uses the loop
};

}  // namespace evictd::cri
