// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/event_stream.hpp"

#include <algorithm>
#include <utility>

#include "cri/messages.hpp"
#include "evictd/model/text.hpp"
#include "http/grpc_status.hpp"
#include "http/trusted_socket.hpp"
#include "sys/clock.hpp"

namespace evictd::cri {
namespace {

constexpr auto events = "container runtime's GetContainerEvents";
constexpr int most_doublings = 6;

bool is_unsupported(const http::Reply& reply) {
    return reply.grpc_status && *reply.grpc_status == static_cast<int>(http::GrpcCode::unimplemented);
}

// Of a stream that ended: it has no end of its own.
Error end_of_stream(const http::Reply& reply) {
    std::string why = "ended";
    if (!reply.accepted()) {
        why = "refused: HTTP " + std::to_string(reply.status);
    } else if (reply.grpc_status && *reply.grpc_status != 0) {
        why =
            http::grpc_code_text(*reply.grpc_status) + ": " + excerpt(http::grpc_message_text(reply.grpc_message), 200);
    }
    return {ErrorKind::unreachable, events, std::move(why), ""};
}

}  // namespace

Status EventStream::start(OnEvent on_event, OnState on_state) {
    on_event_ = std::move(on_event);
    on_state_ = std::move(on_state);
    auto timer = lane_.loop().add_timer([this] { on_time(); });
    if (!timer) return tl::unexpected(timer.error());
    timer_ = std::move(*timer);
    timer_.arm_in({});
    return {};
}

void EventStream::on_time() {
    if (call_) return note_listening();
    if (auto opened = open(); !opened) fail_with(opened.error());
}

// The connection is a new one each time: of a runtime that was started again, the socket is another.
Status EventStream::open() {
    const auto there = http::has_trusted_socket(socket_);
    if (!there) return tl::unexpected(there.error());
    if (!*there)
        return fail(ErrorKind::unreachable, events, socket_ + " is not there",
                    "start it; in a container, mount the socket's directory");
    auto client = http::Client::make(lane_.loop(), {.url = "http://localhost", .tls = {}, .unix_socket = socket_});
    if (!client) return tl::unexpected(client.error());
    client_ = std::move(*client);
    messages_ = http::GrpcMessages();
    auto call = client_->start(
        http::grpc_request("/runtime.v1.RuntimeService/GetContainerEvents", {}),
        [this](std::string_view piece) { return on_piece(piece); },
        [this](const Result<http::Reply>& reply) { on_done(reply); });
    if (!call) return tl::unexpected(call.error());
    call_ = std::move(*call);
    timer_.arm_in(times_.settle);
    return {};
}

// Of an event that is too large it is only known that there was one.
Status EventStream::on_piece(std::string_view piece) {
    return messages_.feed(piece, [this](std::string_view message, bool is_whole) -> Status {
        auto event = is_whole ? read_event(message) : Result<RuntimeEvent>(RuntimeEvent{});
        if (!event) return fail(ErrorKind::invalid, events, "sent an event that " + event.error().why);
        note_listening();
        on_event_(*event);
        return {};
    });
}

void EventStream::on_done(const Result<http::Reply>& reply) {
    if (!reply) return fail_with({reply.error().kind, events, reply.error().why, reply.error().remedy});
    if (!is_unsupported(*reply)) return fail_with(end_of_stream(*reply));
    failures_ = 0;
    end(State::unsupported, {}, times_.unsupported);
}

void EventStream::note_listening() {
    if (state_ == State::listening) return;
    state_ = State::listening;
    fault_.reset();
    listening_since_ = sys::SystemClock().monotonic();
    timer_.disarm();
    on_state_(State::listening, {});
}

void EventStream::fail_with(Error why) {
    const auto lasted = sys::SystemClock().monotonic() - listening_since_;
    if (state_ == State::listening && lasted >= times_.steady) failures_ = 0;
    end(State::down, std::move(why), times_.first_back_off * (1 << std::min(failures_++, most_doublings)));
}

void EventStream::end(State state, std::optional<Error> why, Duration pause) {
    call_.reset();
    auto text = why ? std::optional(why->text()) : std::nullopt;
    const bool is_same = state_ == state && fault_ == text;
    state_ = state;
    fault_ = std::move(text);
    timer_.arm_in(pause);
    if (!is_same) on_state_(state, why);
}

}  // namespace evictd::cri
