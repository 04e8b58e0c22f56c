// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Calls of gRPC to the container runtime's socket, with one message or a stream of them as the answer: one after the
// other, each with a time limit. What is in a message is not known here.
//
// It is libcurl, which the agent has anyway, and not gRPC's own library: agent/README.md has what either costs.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cri/endpoint.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "http/client.hpp"
#include "http/trusted_socket.hpp"
#include "sys/loop.hpp"

namespace evictd::cri {

// Bytes of one message: the kubelet's limit (maxMsgSize of its remote runtime).
inline constexpr std::size_t most_of_a_message = std::size_t{16} << 20U;
// Bytes of all messages of a stream, with their frames. A container has 1 to 1.8 KiB (KEP-5825), so these are about
// 20,000, dead ones included. Half as much is what a single message may have. Both are held in memory that is locked,
// in an agent for nodes that are short of it; of what is decoded, only what is used is kept (message_parts).
inline constexpr std::size_t most_of_a_stream = std::size_t{32} << 20U;

struct Answer {
    int code = 0;         // of gRPC
    std::string text;     // with a code other than 0: what the runtime says of it
    std::string message;  // of call(), with code 0
};

class Connection {
public:
    // Connects to nothing: libcurl is loaded, and the socket looked for, when the first call is made. Error: no
    // descriptor.
    static Result<std::unique_ptr<Connection>> make(EndpointPtr endpoint);
    static Result<std::unique_ptr<Connection>> make(std::string socket);

    // Valid during the call only. An error ends the stream with it.
    using OnMessage = std::function<Status(std::string_view message)>;

    // Blocks. `method`: "ListContainers", with its service: "runtime.v1.RuntimeService". Errors are those of
    // port::ContainerRuntime but for gRPC's codes; `what` names the method. After an error the next call makes a new
    // connection; the same where the runtime was started again in between.
    [[nodiscard]] Result<Answer> call(std::string_view service, std::string_view method, std::string_view request,
                                      Duration limit);
    // The same for a method that streams its answer: none, one or more messages, each handed to `take` as it arrives.
    // They count only if the result's code is 0. An UNIMPLEMENTED is remembered by method and returned without asking,
    // until a call fails, or the runtime is started again or has another socket. It does not mean that the socket is
    // not a runtime's: older runtimes lack these methods.
    [[nodiscard]] Result<Answer> stream(std::string_view service, std::string_view method, std::string_view request,
                                        Duration limit, const OnMessage& take);
    // Thread-safe, final.
    void cancel();

private:
    Connection(EndpointPtr endpoint, sys::Loop loop) : endpoint_(std::move(endpoint)), loop_(std::move(loop)) {}
    Status open(const std::string& what);
    Status connect(const std::string& what);
    Result<Answer> exchange(const std::string& what, const http::Request& request, const OnMessage& take);
    bool is_unknown(const std::string& what, http::Request request, MonotonicTime end);
    void note(const Result<Answer>& answer);
    void forget();

    EndpointPtr endpoint_;
    std::string socket_;                            // that the client is for
    std::optional<http::SocketIdentity> identity_;  // of it
    std::set<std::string> unknown_methods_;         // paths that stream() has got UNIMPLEMENTED for
    sys::Loop loop_;
    std::atomic<bool> is_cancelled_ = false;
    std::unique_ptr<http::Client> client_;  // the last member: it uses the loop
};

}  // namespace evictd::cri
