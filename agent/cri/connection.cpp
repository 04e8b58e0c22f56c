// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/connection.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "http/grpc_messages.hpp"
#include "http/grpc_status.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

// Of one turn of the loop: cancel() wakes it, and so does whatever an exchange waits for.
constexpr Duration longest_turn = std::chrono::seconds(1);

std::string name_of(std::string_view method) { return "container runtime's " + std::string(method); }

http::Request request_of(std::string_view service, std::string_view method, std::string_view message, Duration limit) {
    auto request = http::grpc_request("/" + std::string(service) + "/" + std::string(method), message);
    request.timeout = limit;
    return request;
}

bool is(const Answer& answer, http::GrpcCode code) { return answer.code == static_cast<int>(code); }

Answer unimplemented() { return {.code = static_cast<int>(http::GrpcCode::unimplemented), .text = {}, .message = {}}; }

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
    auto answer = exchange(what, request_of(service, method, request, limit));
    note(answer);
    return answer;
}

struct Connection::EachCall {
    std::string what;
    std::string_view service;
    std::string_view method;
    const std::vector<std::string>& requests;
    Duration limit;
    MonotonicTime end;
    const OnAnswer& take;
    std::size_t next = 0;  // request
    std::size_t answered = 0;
};

struct Connection::NumberedCall {
    std::size_t number = 0;
    std::optional<Exchange> exchange;
};

Status Connection::call_each(std::string_view service, std::string_view method,
                             const std::vector<std::string>& requests, Duration limit, MonotonicTime end,
                             const OnAnswer& take) {
    EachCall each{name_of(method), service, method, requests, limit, end, take};
    if (auto opened = open(each.what); !opened) return opened;
    auto done = exchange_each(each);
    note(done ? Result<Answer>(Answer{}) : tl::unexpected(done.error()));
    return done;
}

Status Connection::exchange_each(EachCall& each) {
    std::array<NumberedCall, calls_at_once> calls;
    while (true) {
        for (auto& call : calls) {
            if (auto taken = take_answer(each, call); !taken) return taken;
            if (auto begun = begin_next(each, call); !begun) return begun;
        }
        if (each.answered == each.requests.size()) return {};
        if (auto turned = turn(each.what); !turned) return turned;
    }
}

Status Connection::take_answer(EachCall& each, NumberedCall& call) {
    if (!call.exchange || !call.exchange->has_ended()) return {};
    const auto answer = call.exchange->answer(socket_);
    call.exchange.reset();
    if (!answer) return tl::unexpected(answer.error());
    ++each.answered;
    return each.take(call.number, *answer);
}

Status Connection::begin_next(EachCall& each, NumberedCall& call) {
    if (call.exchange || each.next == each.requests.size()) return {};
    if (sys::SystemClock().monotonic() >= each.end) {
        return fail(ErrorKind::unreachable, each.what,
                    "timed out after " + std::to_string(each.answered) + " of " + std::to_string(each.requests.size()) +
                        " calls");
    }
    call.number = each.next++;
    call.exchange.emplace(each.what);
    return call.exchange->begin(*client_,
                                request_of(each.service, each.method, each.requests[call.number], each.limit));
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

Result<Answer> Connection::exchange(const std::string& what, const http::Request& request, OnMessage take) {
    Exchange one(what, std::move(take));
    if (auto begun = one.begin(*client_, request); !begun) return tl::unexpected(begun.error());
    while (!one.has_ended()) {
        if (auto turned = turn(what); !turned) return tl::unexpected(turned.error());
    }
    return one.answer(socket_);
}

Status Connection::turn(const std::string& what) {
    if (is_cancelled_) return fail(ErrorKind::unreachable, what, "the agent ends");
    return loop_.run_once(longest_turn);
}

void Connection::cancel() {
    is_cancelled_ = true;
    loop_.ask_alive();
}

}  // namespace evictd::cri
