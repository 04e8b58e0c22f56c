// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/connection.hpp"

#include <optional>
#include <utility>

#include "evictd/model/text.hpp"
#include "http/grpc_messages.hpp"
#include "http/grpc_status.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

// Beyond the limit that libcurl keeps itself.
constexpr Duration margin = std::chrono::seconds(1);
constexpr std::size_t longest_text = 200;

std::string name_of(std::string_view method) { return "container runtime's " + std::string(method); }

http::Request request_of(std::string_view service, std::string_view method, std::string_view message, Duration limit) {
    auto request = http::grpc_request("/" + std::string(service) + "/" + std::string(method), message);
    request.timeout = limit;
    return request;
}

bool is(const Answer& answer, http::GrpcCode code) { return answer.code == static_cast<int>(code); }

Answer unimplemented() { return {.code = static_cast<int>(http::GrpcCode::unimplemented), .text = {}, .message = {}}; }

// How the call ended, as gRPC has it.
Result<Answer> answer_of(const std::string& what, const http::Reply& reply, bool is_complete) {
    if (!reply.accepted()) {
        return fail(ErrorKind::invalid, what, "refused: HTTP " + std::to_string(reply.status),
                    "is it a container runtime's socket?");
    }
    if (!reply.grpc_status) return fail(ErrorKind::unreachable, what, "the answer was cut off");
    Answer answer{.code = *reply.grpc_status, .text = {}, .message = {}};
    if (!is(answer, http::GrpcCode::ok)) {
        answer.text = excerpt(http::grpc_message_text(reply.grpc_message), longest_text);
    } else if (!is_complete) {
        return fail(ErrorKind::invalid, what, "the answer ends in the middle of a message");
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

void Connection::forget() {
    client_.reset();
    unknown_methods_.clear();
}

// The socket is looked at before each call, because each may make a connection.
Status Connection::open(const std::string& what) {
    auto connected = connect(what);
    if (!connected) forget();
    return connected;
}

Status Connection::connect(const std::string& what) {
    auto socket = endpoint_->find();
    if (!socket) return tl::unexpected(socket.error());
    const auto there = http::find_trusted_socket(*socket);
    if (!there) return tl::unexpected(there.error());
    if (!*there)
        return fail(ErrorKind::unreachable, what, *socket + " is not there",
                    "start it; in a container, mount the socket's directory");
    if (socket_ != *socket || identity_ != *there) forget();
    socket_ = std::move(*socket);
    identity_ = *there;
    if (client_) return {};
    auto client = http::Client::make(loop_, {.url = "http://localhost", .tls = {}, .unix_socket = socket_});
    if (!client) return tl::unexpected(client.error());
    client_ = std::move(*client);
    return {};
}

Result<Answer> Connection::call(std::string_view service, std::string_view method, std::string_view request,
                                Duration limit) {
    const auto what = name_of(method);
    if (auto opened = open(what); !opened) return tl::unexpected(opened.error());
    std::optional<std::string> message;
    auto answer = exchange(what, request_of(service, method, request, limit), [&](std::string_view whole) -> Status {
        if (message) return fail(ErrorKind::invalid, what, "the answer has more than one message");
        message = std::string(whole);
        return {};
    });
    if (answer && is(*answer, http::GrpcCode::ok)) {
        if (message) {
            answer->message = std::move(*message);
        } else {
            answer = fail(ErrorKind::invalid, what, "the answer has no message");
        }
    }
    note(answer);
    return answer;
}

Result<Answer> Connection::stream(std::string_view service, std::string_view method, std::string_view request,
                                  Duration limit, const OnMessage& take) {
    const auto what = name_of(method);
    if (auto opened = open(what); !opened) return tl::unexpected(opened.error());
    const auto wanted = request_of(service, method, request, limit);
    if (unknown_methods_.contains(wanted.path)) return unimplemented();
    const auto end = sys::SystemClock().monotonic() + limit;
    auto answer = exchange(what, wanted, take);
    if (!answer && answer.error().kind == ErrorKind::unreachable && is_unknown(what, wanted, end)) {
        answer = unimplemented();
    }
    if (answer && is(*answer, http::GrpcCode::unimplemented)) {
        unknown_methods_.insert(wanted.path);
    } else {
        note(answer);
    }
    return answer;
}

// Whether a call failed because the runtime does not know its method. gRPC's servers then answer before they have read
// the request's body, which HTTP/2 allows (RFC 9113, 8.1). libcurl 7.88 fails to send the rest of the body, and loses
// the answer. It is seen without a body, which a server that knows the method refuses with another code.
bool Connection::is_unknown(const std::string& what, http::Request request, MonotonicTime end) {
    if (!open(what)) return false;
    request.body.clear();
    request.timeout = end - sys::SystemClock().monotonic();
    if (request.timeout <= Duration{}) return false;
    const auto answer = exchange(what, request, [](std::string_view /*message*/) { return Status{}; });
    return answer && is(*answer, http::GrpcCode::unimplemented);
}

// One that knows no such call, or is not ready, may be another program than the runtime.
void Connection::note(const Result<Answer>& answer) {
    endpoint_->note_call(socket_, answer && is(*answer, http::GrpcCode::ok));
    if (!answer) forget();
}

Result<Answer> Connection::exchange(const std::string& what, const http::Request& request, const OnMessage& take) {
    http::GrpcMessages messages(most_of_a_message, http::GrpcMessages::Larger::is_error);
    std::size_t bytes = 0;
    const auto on_data = [&](std::string_view piece) -> Status {
        bytes += piece.size();
        if (bytes > most_of_a_stream) {
            return fail(ErrorKind::invalid, what, "the answer has more than " + bytes_text(most_of_a_stream));
        }
        return messages.feed(piece, [&](std::string_view whole, bool /*is_whole*/) { return take(whole); });
    };
    std::optional<Result<http::Reply>> reply;
    const auto call = client_->start(request, on_data, [&](Result<http::Reply> done) { reply = std::move(done); });
    if (!call) return tl::unexpected(call.error());
    const sys::SystemClock clock;
    const auto end = clock.monotonic() + request.timeout + margin;
    while (!reply && !is_cancelled_ && clock.monotonic() < end) {
        if (auto turned = loop_.run_once(margin); !turned) return tl::unexpected(turned.error());
    }
    if (is_cancelled_) return fail(ErrorKind::unreachable, what, "the agent ends");
    if (!reply) return fail(ErrorKind::unreachable, what, "no answer within " + span_text(request.timeout));
    if (!*reply && reply->error().kind == ErrorKind::unreachable) {
        return fail(ErrorKind::unreachable, what, socket_ + ": " + reply->error().why,
                    "does a container runtime run there?");
    }
    if (!*reply) return fail(reply->error().kind, what, reply->error().why, reply->error().remedy);
    return answer_of(what, **reply, messages.is_complete());
}

void Connection::cancel() {
    is_cancelled_ = true;
    loop_.ask_alive();
}

}  // namespace evictd::cri
