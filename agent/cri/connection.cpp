// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/connection.hpp"

#include <optional>
#include <utility>

#include "evictd/model/text.hpp"
#include "http/grpc_messages.hpp"
#include "http/grpc_status.hpp"
#include "http/trusted_socket.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

// Beyond the limit that libcurl keeps itself.
constexpr Duration margin = std::chrono::seconds(1);
constexpr std::size_t longest_text = 200;

// What came, as gRPC has it: one message and a status, or a status alone.
Result<Answer> answer_of(const std::string& what, const http::Reply& reply, std::optional<std::string> message) {
    if (!reply.accepted()) {
        return fail(ErrorKind::invalid, what, "refused: HTTP " + std::to_string(reply.status),
                    "is it a container runtime's socket?");
    }
    if (!reply.grpc_status) return fail(ErrorKind::unreachable, what, "the answer was cut off");
    Answer answer{.code = *reply.grpc_status, .text = {}, .message = {}};
    if (answer.code != static_cast<int>(http::GrpcCode::ok)) {
        answer.text = excerpt(http::grpc_message_text(reply.grpc_message), longest_text);
    } else if (!message) {
        return fail(ErrorKind::invalid, what, "the answer has no message");
    } else {
        answer.message = std::move(*message);
    }
    return answer;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::make(EndpointPtr endpoint) {
    auto loop = sys::Loop::make();
    if (!loop) return tl::unexpected(loop.error());
    return std::unique_ptr<Connection>(new Connection(std::move(endpoint), std::move(*loop)));
}

Result<std::unique_ptr<Connection>> Connection::make(std::string socket) {
    return make(std::make_shared<Endpoint>(std::move(socket)));
}

// The socket is looked at before each call, because each may make a connection.
Status Connection::open(const std::string& what) {
    const auto socket = endpoint_->find();
    if (!socket) return tl::unexpected(socket.error());
    if (socket_ != *socket) client_.reset();
    socket_ = *socket;
    const auto there = http::has_trusted_socket(socket_);
    if (!there) return tl::unexpected(there.error());
    if (!*there)
        return fail(ErrorKind::unreachable, what, socket_ + " is not there",
                    "start it; in a container, mount the socket's directory");
    if (client_) return {};
    auto client = http::Client::make(loop_, {.url = "http://localhost", .tls = {}, .unix_socket = socket_});
    if (!client) return tl::unexpected(client.error());
    client_ = std::move(*client);
    return {};
}

Result<Answer> Connection::call(std::string_view service, std::string_view method, std::string_view request,
                                Duration limit) {
    const auto what = "container runtime's " + std::string(method);
    if (auto opened = open(what); !opened) {
        client_.reset();
        return tl::unexpected(opened.error());
    }
    auto wanted = http::grpc_request("/" + std::string(service) + "/" + std::string(method), request);
    wanted.timeout = limit;
    auto answer = exchange(what, wanted);
    // One that knows no such call, or is not ready, may be another program than the runtime.
    endpoint_->note_call(socket_, answer && answer->code == static_cast<int>(http::GrpcCode::ok));
    if (!answer) client_.reset();
    return answer;
}

Result<Answer> Connection::exchange(const std::string& what, const http::Request& request) {
    http::GrpcMessages messages(most_of_an_answer, http::GrpcMessages::Larger::is_error);
    std::optional<std::string> message;
    const auto take = [&](std::string_view piece) {
        return messages.feed(piece, [&](std::string_view whole, bool /*is_whole*/) -> Status {
            if (message) return fail(ErrorKind::invalid, what, "the answer has more than one message");
            message = std::string(whole);
            return {};
        });
    };
    std::optional<Result<http::Reply>> reply;
    const auto call = client_->start(request, take, [&](Result<http::Reply> done) { reply = std::move(done); });
    if (!call) return tl::unexpected(call.error());
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + request.timeout + margin;
    while (!reply && !is_cancelled_ && clock.monotonic() < end) {
        if (auto turned = loop_.run_once(margin); !turned) return tl::unexpected(turned.error());
    }
    if (is_cancelled_) return fail(ErrorKind::unreachable, what, "the agent ends");
    if (!reply) return fail(ErrorKind::unreachable, what, "no answer within " + span_text(request.timeout));
    if (!*reply) return fail(reply->error().kind, what, reply->error().why, reply->error().remedy);
    return answer_of(what, **reply, std::move(message));
}

void Connection::cancel() {
    is_cancelled_ = true;
    loop_.ask_alive();
}

}  // namespace evictd::cri
