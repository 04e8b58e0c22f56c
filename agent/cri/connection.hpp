// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Calls of gRPC to the container runtime's socket, with one message or a stream of them as the answer, each with a time
// limit. What is in a message is not known here.
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
#include <vector>

#include "cri/endpoint.hpp"
#include "cri/exchange.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "http/client.hpp"
#include "http/trusted_socket.hpp"
#include "sys/loop.hpp"

namespace evictd::cri {

// Calls that call_each() has under way at most. Each has a connection of its own, as libcurl 7.88 does not share one to
// a Unix socket, and may hold two messages of most_of_an_object.
inline constexpr std::size_t most_calls_at_once = 16;

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
    // Several requests of one method, `at_once` at a time (most_calls_at_once at most), each within `limit`. An answer
    // of more than most_of_an_object is an error; one at a time, of more than most_of_a_message. No call is begun after
    // `end`: if requests remain, that is an error (`unreachable`). Each answer, a refusal too, comes to `take` with the
    // number of its request, in any order. The first error, of a call or of `take`, cancels the rest.
    struct Calls {
        std::string_view service;
        std::string_view method;
        const std::vector<std::string>& requests;
        std::size_t at_once = most_calls_at_once;
        Duration limit{0};
        MonotonicTime end;
    };
    using OnAnswer = std::function<Status(std::size_t number, const Answer& answer)>;
    [[nodiscard]] Status call_each(const Calls& calls, const OnAnswer& take);
    // The same as call() for a method that streams its answer: none, one or more messages, each handed to `take` as it
    // arrives. They count only if the result's code is 0. An UNIMPLEMENTED is remembered by method and returned without
    // asking, until a call fails, or the runtime is started again or has another socket. It does not mean that the
    // socket is not a runtime's: older runtimes lack these methods.
    [[nodiscard]] Result<Answer> stream(std::string_view service, std::string_view method, std::string_view request,
                                        Duration limit, const OnMessage& take);
    // Thread-safe, final.
    void cancel();

private:
    Connection(EndpointPtr endpoint, sys::Loop loop) : endpoint_(std::move(endpoint)), loop_(std::move(loop)) {}
    Status open(const std::string& what);
    Status connect(const std::string& what);
    Result<Answer> exchange(const std::string& what, const http::Request& request, OnMessage take = {});
    struct EachCall;
    struct NumberedCall;
    Status exchange_each(EachCall& each);
    Status take_answer(EachCall& each, NumberedCall& call);
    Status begin_next(EachCall& each, NumberedCall& call);
    Status turn(const std::string& what);
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
