// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_connection.hpp"

#include <chrono>
#include <utility>

#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;

// How long a client that is not used any more is kept at most: one TLS connection's memory.
constexpr Duration sweep_period = 5s;
constexpr long unauthorized = 401;

}  // namespace

ApiConnection::ApiConnection(sys::Lane& lane, AccessSource& access, ApiCounters& counters)
    : lane_(lane), access_(access), counters_(counters) {}

Status ApiConnection::open() {
    const auto access = access_.get();
    if (!access) return tl::unexpected(access.error());
    if (client_ && generation_ == access_.generation()) return {};
    auto client = http::Client::make(lane_.loop(), (*access)->server);
    if (!client) return tl::unexpected(client.error());
    replace();
    client_ = std::move(*client);
    generation_ = access_.generation();
    return {};
}

void ApiConnection::replace() {
    if (!client_) return;
    retired_.push_back(std::exchange(client_, nullptr));
    (void)lane_.arm(sweep_, sys::SystemClock().monotonic() + sweep_period, [this] { sweep(); });
}

void ApiConnection::sweep() {
    std::erase_if(retired_, [](const auto& client) { return client.use_count() == 1; });
    if (!retired_.empty()) sweep_.arm_in(sweep_period);
}

Result<ApiConnection::Call> ApiConnection::start(http::Request request, http::Client::OnData on_data,
                                                 http::Client::OnDone on_done, ApiCounters::Kind kind) {
    if (auto opened = open(); !opened) return tl::unexpected(opened.error());
    auto token = current_token(**access_.get());
    if (!token) {
        read_access_again();
        return tl::unexpected(token.error());
    }
    request.bearer_token = std::move(*token);
    Call call;
    call.client_ = client_;
    call.was_heard_ = std::make_shared<bool>(false);
    auto started = client_->start(
        request,
        [heard = call.was_heard_, data = std::move(on_data)](std::string_view piece) {
            *heard = true;
            return data(piece);
        },
        [this, method = request.method, kind, began = sys::SystemClock().monotonic(), client = client_.get(),
         heard = call.was_heard_, done = std::move(on_done)](Result<http::Reply> reply) {
            *heard = *heard || reply.has_value();
            note_end(method, kind, began, reply);
            if (!reply && client == client_.get()) replace();
            done(std::move(reply));
        });
    if (!started) return tl::unexpected(started.error());
    call.call_ = std::move(*started);
    return call;
}

void ApiConnection::note_end(const std::string& method, ApiCounters::Kind kind, MonotonicTime began,
                             const Result<http::Reply>& reply) {
    counters_.count(method, kind, reply ? reply->status : 0, sys::SystemClock().monotonic() - began);
    if (!reply || reply->status == unauthorized) read_access_again();
}

}  // namespace evictd::kube
