// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// gRPC's framing (PROTOCOL-HTTP2): cuts a reply that arrives in pieces into its messages, with the memory of one. What
// is in a message is not known here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "http/client.hpp"

namespace evictd::http {

// The frame of a message of less than 4 GiB, not compressed.
[[nodiscard]] std::string grpc_frame(std::string_view message);
// A call of `method` ("/package.Service/Method") with that message. Without a time limit: a stream's.
[[nodiscard]] Request grpc_request(std::string method, std::string_view message);

class GrpcMessages {
public:
    // `is_whole`: else it is the head of a message that is too large. An error of it is feed()'s.
    using OnMessage = std::function<Status(std::string_view message, bool is_whole)>;
    static constexpr std::size_t most_of_a_message = std::size_t{1} << 20U;
    enum class Larger : std::uint8_t {
        is_cut,   // its head is handed on
        is_error  // at once: nothing of it is read
    };
    // Of one that is cut, this much is handed on.
    static constexpr std::size_t head_of_a_message = std::size_t{4} << 10U;

    explicit GrpcMessages(std::size_t most = most_of_a_message, Larger larger = Larger::is_cut)
        : most_(most), larger_(larger) {}

    // Calls `on_message` with each message that is complete with this piece. The first error is final: a compressed
    // message (evictd accepts no compression), or one that is too large.
    Status feed(std::string_view piece, const OnMessage& on_message);
    // No message is incomplete.
    [[nodiscard]] bool is_complete() const { return prefix_.empty(); }

private:
    Status open();
    Status close(const OnMessage& on_message);

    std::size_t most_;
    Larger larger_;
    std::string prefix_;      // of the message that is being read
    std::uint32_t left_ = 0;  // of its bytes
    bool is_too_large_ = false;
    std::string message_;  // what was kept of it
};

}  // namespace evictd::http
