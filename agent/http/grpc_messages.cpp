// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "http/grpc_messages.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::http {
namespace {

constexpr std::size_t prefix_size = 5;  // whether it is compressed, and its length in 4 bytes, the highest first
// Of what one large message needed, this much stays.
constexpr std::size_t most_kept = std::size_t{64} << 10U;

}  // namespace

std::string grpc_frame(std::string_view message) {
    std::string frame(1, '\0');
    for (const unsigned shift : {24U, 16U, 8U, 0U}) frame += static_cast<char>(message.size() >> shift & 0xffU);
    frame += message;
    return frame;
}

Request grpc_request(std::string method, std::string_view message) {
    Request request;
    request.method = "POST";
    request.path = std::move(method);
    request.content_type = "application/grpc";
    request.body = grpc_frame(message);
    request.takes_trailers = true;
    return request;
}

Status GrpcMessages::feed(std::string_view piece, const OnMessage& on_message) {
    while (!piece.empty()) {
        if (prefix_.size() < prefix_size) {
            prefix_ += piece.front();
            piece.remove_prefix(1);
            if (prefix_.size() < prefix_size) continue;
            if (auto opened = open(); !opened) return opened;
        } else {
            const auto part = piece.substr(0, left_);
            const auto most = is_too_large_ ? head_of_a_message : most_;
            message_ += part.substr(0, most - std::min(most, message_.size()));
            left_ -= static_cast<std::uint32_t>(part.size());
            piece.remove_prefix(part.size());
        }
        if (left_ > 0) continue;
        if (auto closed = close(on_message); !closed) return closed;
    }
    return {};
}

Status GrpcMessages::open() {
    if (prefix_.front() != '\0') return fail(ErrorKind::invalid, "gRPC reply", "a message is compressed");
    for (std::size_t i = 1; i < prefix_size; i++) left_ = left_ << 8U | static_cast<std::uint8_t>(prefix_[i]);
    is_too_large_ = left_ > most_;
    if (is_too_large_ && larger_ == Larger::is_error) {
        return fail(ErrorKind::invalid, "gRPC reply",
                    "a message has " + bytes_text(left_) + ", and " + bytes_text(static_cast<std::int64_t>(most_)) +
                        " is the most");
    }
    if (!is_too_large_) message_.reserve(left_);
    return {};
}

Status GrpcMessages::close(const OnMessage& on_message) {
    prefix_.clear();
    auto taken = on_message(message_, !is_too_large_);
    message_.clear();
    if (message_.capacity() > most_kept) message_.shrink_to_fit();  // an assignment would keep its memory
    return taken;
}

}  // namespace evictd::http
