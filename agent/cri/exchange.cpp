// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/exchange.hpp"

#include <chrono>
#include <utility>

#include "evictd/model/text.hpp"
#include "http/grpc_status.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

// Beyond the limit that libcurl keeps itself.
constexpr Duration margin = std::chrono::seconds(1);
constexpr std::size_t longest_text = 200;

}  // namespace

Exchange::Exchange(std::string what, OnMessage take, std::size_t most)
    : what_(std::move(what)), take_(std::move(take)), messages_(most, http::GrpcMessages::Larger::is_error) {}

Status Exchange::begin(http::Client& client, const http::Request& request) {
    limit_ = request.timeout;
    end_ = sys::SystemClock().monotonic() + limit_ + margin;
    auto call = client.start(
        request, [this](std::string_view piece) { return on_data(piece); },
        [this](Result<http::Reply> done) { reply_ = std::move(done); });
    if (!call) return tl::unexpected(call.error());
    call_ = std::move(*call);
    return {};
}

bool Exchange::has_ended() const { return reply_ || sys::SystemClock().monotonic() >= end_; }

Status Exchange::on_data(std::string_view piece) {
    bytes_ += piece.size();
    if (bytes_ > most_of_a_stream) {
        return fail(ErrorKind::invalid, what_, "the answer has more than " + bytes_text(most_of_a_stream));
    }
    return messages_.feed(
        piece, [this](std::string_view whole, bool /*is_whole*/) { return take_ ? take_(whole) : keep(whole); });
}

Status Exchange::keep(std::string_view message) {
    if (message_) return fail(ErrorKind::invalid, what_, "the answer has more than one message");
    message_ = std::string(message);
    return {};
}

Result<Answer> Exchange::answer(const std::string& socket) {
    call_.reset();
    if (!reply_) return fail(ErrorKind::unreachable, what_, "no answer within " + span_text(limit_));
    const auto& reply = *reply_;
    if (reply) return answer_of(*reply);
    if (reply.error().kind == ErrorKind::unreachable) {
        return fail(ErrorKind::unreachable, what_, socket + ": " + reply.error().why,
                    "does a container runtime run there?");
    }
    return fail(reply.error().kind, what_, reply.error().why, reply.error().remedy);
}

// How the call ended, as gRPC has it.
Result<Answer> Exchange::answer_of(const http::Reply& reply) {
    if (!reply.accepted()) {
        return fail(ErrorKind::invalid, what_, "refused: HTTP " + std::to_string(reply.status),
                    "is it a container runtime's socket?");
    }
    if (!reply.grpc_status) return fail(ErrorKind::unreachable, what_, "the answer was cut off");
    Answer answer{.code = *reply.grpc_status, .text = {}, .message = {}};
    if (!answer.is(http::GrpcCode::ok)) {
        answer.text = excerpt(http::grpc_message_text(reply.grpc_message), longest_text);
        return answer;
    }
    if (!messages_.is_complete()) return fail(ErrorKind::invalid, what_, "the answer ends in the middle of a message");
    if (!take_ && !message_) return fail(ErrorKind::invalid, what_, "the answer has no message");
    if (message_) answer.message = std::move(*message_);
    return answer;
}

}  // namespace evictd::cri
