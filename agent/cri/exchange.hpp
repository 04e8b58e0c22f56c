// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One call of gRPC that is under way: from its request to how it ended.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "http/client.hpp"
#include "http/grpc_messages.hpp"
#include "http/grpc_status.hpp"

namespace evictd::cri {

// Bytes of one message: the kubelet's limit (maxMsgSize of its remote runtime).
inline constexpr std::size_t most_of_a_message = std::size_t{16} << 20U;
// Bytes of a message about one object, such as a container, when several calls run at once. A message may be larger:
// etcd limits a pod to 1.5 MiB, but the kubelet copies hooks into annotations as JSON, which can be six times as long.
inline constexpr std::size_t most_of_an_object = std::size_t{2} << 20U;
// Bytes of all messages of a stream, with their frames. A container has 1 to 1.8 KiB (KEP-5825), so these are about
// 20,000, dead ones included. Half as much is what a single message may have. Both are held in memory that is locked,
// in an agent for nodes that are short of it; of what is decoded, only what is used is kept (message_parts).
inline constexpr std::size_t most_of_a_stream = std::size_t{32} << 20U;

struct Answer {
    int code = 0;         // of gRPC
    std::string text;     // with a code other than 0: what the runtime says of it
    std::string message;  // of a call with one, and code 0

    [[nodiscard]] bool is(http::GrpcCode wanted) const { return code == static_cast<int>(wanted); }
};

// `message` is valid during the callback only. An error ends the exchange with it.
using OnMessage = std::function<Status(std::string_view message)>;

// Its destructor cancels the call, and must come before the client's. The call's callbacks hold its address.
class Exchange {
public:
    // `what` names the method in errors. Without `take` the call is a unary one, whose answer is one message, kept in
    // Answer::message. `most`: bytes of a message.
    explicit Exchange(std::string what, OnMessage take = {}, std::size_t most = most_of_a_message);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange() = default;

    // Once. `request.timeout` must be set. Error: no memory.
    [[nodiscard]] Status begin(http::Client& client, const http::Request& request);
    // Whether the loop's turns have brought its end, or its time limit is over by a second.
    [[nodiscard]] bool has_ended() const;
    // Once, when it has ended. `socket` is the client's.
    [[nodiscard]] Result<Answer> answer(const std::string& socket);

private:
    Status on_data(std::string_view piece);
    Status keep(std::string_view message);
    Result<Answer> answer_of(const http::Reply& reply);

    std::string what_;
    OnMessage take_;
    std::optional<std::string> message_;
    http::GrpcMessages messages_;
    std::size_t bytes_ = 0;
    Duration limit_{0};
    MonotonicTime end_;
    std::optional<Result<http::Reply>> reply_;
    http::Client::CallPtr call_;
};

}  // namespace evictd::cri
