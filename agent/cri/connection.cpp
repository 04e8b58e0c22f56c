// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/connection.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "http/grpc_messages.hpp"
#include "http/grpc_status.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

// Of one turn of the loop. What arrives and cancel() wake it earlier.
constexpr Duration longest_turn = std::chrono::seconds(1);

std::string name_of(std::string_view method) { return "container runtime's " + std::string(method); }

http::Request request_of(std::string_view service, std::string_view method, std::string_view message, Duration limit) {
    auto request = http::grpc_request("/" + std::string(service) + "/" + std::string(method), message);
    request.timeout = limit;
    return request;
}

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

// The socket is looked at before each call and call_each(), because they make connections.
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
    const Calls& calls;
    const OnAnswer& take;
    std::size_t next = 0;  // request
    std::size_t answered = 0;
    bool is_accepted = false;  // one of them
    bool is_broken = false;    // the error is the connection's
};

struct Connection::NumberedCall {
    std::size_t number = 0;
    std::optional<Exchange> exchange;
};

Status Connection::call_each(const Calls& calls, const OnAnswer& take) {
    EachCall each{name_of(calls.method), calls, take};
    if (auto opened = open(each.what); !opened) return opened;
    auto done = exchange_each(each);
    if (each.is_broken) {
        note(tl::unexpected(done.error()));
    } else if (each.answered > 0) {
        endpoint_->note_call(socket_, each.is_accepted);
    }
    return done;
}

Status Connection::exchange_each(EachCall& each) {
    std::array<NumberedCall, most_calls_at_once> calls;
    const auto at_once = std::clamp<std::size_t>(each.calls.at_once, 1, most_calls_at_once);
    while (true) {
        for (auto& call : std::span(calls).first(at_once)) {
            if (auto taken = take_answer(each, call); !taken) return taken;
            if (auto begun = begin_next(each, call); !begun) return begun;
        }
        if (each.answered == each.calls.requests.size()) return {};
        if (auto turned = turn(each.what); !turned) return turned;
    }
}

Status Connection::take_answer(EachCall& each, NumberedCall& call) {
    if (!call.exchange || !call.exchange->has_ended()) return {};
    const auto answer = call.exchange->answer(socket_);
    call.exchange.reset();
    each.is_broken = !answer;
    if (!answer) return tl::unexpected(answer.error());
    ++each.answered;
    each.is_accepted = each.is_accepted || answer->is(http::GrpcCode::ok);
    return each.take(call.number, *answer);
}

Status Connection::begin_next(EachCall& each, NumberedCall& call) {
    const auto& requests = each.calls.requests;
    if (call.exchange || each.next == requests.size()) return {};
    if (sys::SystemClock().monotonic() >= each.calls.end) {
        return fail(ErrorKind::unreachable, each.what,
                    "no time is left: " + std::to_string(each.answered) + " of " + std::to_string(requests.size()) +
                        " calls were answered");
    }
    call.number = each.next++;
    const std::size_t most = each.calls.at_once > 1 ? most_of_an_object : most_of_a_message;
    call.exchange.emplace(each.what, OnMessage{}, most);
    auto begun = call.exchange->begin(
        *client_, request_of(each.calls.service, each.calls.method, requests[call.number], each.calls.limit));
    each.is_broken = !begun;
    return begun;
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
    if (answer && answer->is(http::GrpcCode::unimplemented)) {
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
    return answer && answer->is(http::GrpcCode::unimplemented);
}

// One that knows no such call, or is not ready, may be another program than the runtime.
void Connection::note(const Result<Answer>& answer) {
    endpoint_->note_call(socket_, answer && answer->is(http::GrpcCode::ok));
    if (!answer) forget();
}

// The exchange is over when this returns: after an error the client goes.
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
