// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_server.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "sys/clock.hpp"

namespace evictd::kube {
namespace {

using namespace std::chrono_literals;
using port::ApiPriority;

// What a server may ask for with Retry-After.
constexpr Duration longest_pause_asked_for = 5min;
constexpr long too_many_requests = 429;
constexpr long unavailable = 503;

Result<port::ApiReply> reply_of(Result<http::Reply> reply, std::string body) {
    if (!reply) return tl::unexpected(std::move(reply.error()));
    return port::ApiReply{.status = reply->status,
                          .body = reply->accepted() ? std::move(body) : std::move(reply->body),
                          .retry_after = reply->retry_after};
}

}  // namespace

ApiServer::~ApiServer() = default;

bool ApiServer::send(port::ApiRequest request, OnReply on_reply) {
    const auto now = sys::SystemClock().monotonic();
    const std::scoped_lock lock(mutex_);
    expire(now);
    auto& queue = request.priority == ApiPriority::eviction ? evictions_ : others_;
    const bool fits =
        queue.size() < most_waiting && expired_.size() < 2 * most_waiting && request.body.size() <= most_of_a_body;
    if (!fits || is_closed_) {
        counters_.count_dropped();
        return false;
    }
    if (lane_ != nullptr && !is_posted_ && !lane_->post([this] { pump(); })) {
        counters_.count_dropped();
        return false;
    }
    is_posted_ = lane_ != nullptr;
    const auto not_after = now + request.longest_wait;
    queue.push_back({std::move(request), std::move(on_reply), not_after});
    return true;
}

void ApiServer::expire(MonotonicTime now) {
    for (auto* queue : {&evictions_, &others_}) {
        const auto late = std::stable_partition(queue->begin(), queue->end(),
                                                [now](const Waiting& one) { return one.not_after > now; });
        std::move(late, queue->end(), std::back_inserter(expired_));
        queue->erase(late, queue->end());
    }
}

// Each may send another request.
void ApiServer::answer_expired() {
    Queue expired;
    {
        const std::scoped_lock lock(mutex_);
        expire(sys::SystemClock().monotonic());
        expired.swap(expired_);
    }
    for (const auto& one : expired) {
        one.on_reply(fail(ErrorKind::unreachable, "API server", "the request waited too long to be sent"));
    }
}

void ApiServer::open(sys::Lane& lane, ApiConnection& connection) {
    {
        const std::scoped_lock lock(mutex_);
        if (is_closed_) return;
        lane_ = &lane;
    }
    connection_ = &connection;
    filled_at_ = sys::SystemClock().monotonic();
    pump();
}

void ApiServer::close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    lane_ = nullptr;
}

void ApiServer::drop() {
    flights_.clear();
    again_ = {};
    Queue evictions;
    Queue others;
    Queue expired;
    const std::scoped_lock lock(mutex_);
    evictions_.swap(evictions);
    others_.swap(others);
    expired_.swap(expired);
}

void ApiServer::pump() {
    {
        const std::scoped_lock lock(mutex_);
        is_posted_ = false;
    }
    answer_expired();
    send_evictions();
    send_others();
}

void ApiServer::wake_at(std::optional<MonotonicTime> due) {
    if (lane_ == nullptr) return;
    for (const auto* queue : {&evictions_, &others_}) {
        for (const auto& one : *queue) due = std::min(due.value_or(one.not_after), one.not_after);
    }
    (void)lane_->arm(again_, due, [this] { pump(); });
}

std::optional<ApiServer::Waiting> ApiServer::take(Queue& queue) {
    const std::scoped_lock lock(mutex_);
    if (queue.empty()) return std::nullopt;
    std::optional<Waiting> first(std::move(queue.front()));
    queue.pop_front();
    return first;
}

void ApiServer::send_evictions() {
    while (under_way(ApiPriority::eviction) < most_evictions_under_way) {
        auto waiting = take(evictions_);
        if (!waiting) return;
        start(std::move(*waiting));
    }
}

void ApiServer::refill(MonotonicTime now) {
    const double seconds = std::chrono::duration<double>(now - filled_at_).count();
    tokens_ = std::min(most_at_once, tokens_ + (seconds * requests_a_second));
    filled_at_ = now;
}

void ApiServer::send_others() {
    while (under_way(ApiPriority::other) < most_others_under_way) {
        const auto now = sys::SystemClock().monotonic();
        refill(now);
        if (now < left_alone_until_ || tokens_ < 1) {
            const auto missing = std::chrono::duration<double>(std::max(0.0, 1 - tokens_) / requests_a_second);
            const auto filled = now + std::chrono::ceil<Duration>(missing);
            const std::scoped_lock lock(mutex_);
            if (!others_.empty()) wake_at(std::max(filled, left_alone_until_));
            return;
        }
        auto waiting = take(others_);
        if (!waiting) return;
        tokens_ -= 1;
        start(std::move(*waiting));
    }
}

std::size_t ApiServer::under_way(ApiPriority priority) const {
    return static_cast<std::size_t>(std::count_if(flights_.begin(), flights_.end(),
                                                  [&](const Flight& flight) { return flight.priority == priority; }));
}

void ApiServer::start(Waiting waiting) {
    auto& wanted = waiting.request;
    flights_.push_front({.priority = wanted.priority, .on_reply = std::move(waiting.on_reply), .body = {}, .call = {}});
    const auto flight = flights_.begin();
    http::Request request{.method = std::move(wanted.method),
                          .path = std::move(wanted.path),
                          .content_type = std::move(wanted.content_type),
                          .body = std::move(wanted.body),
                          .bearer_token = {},
                          .timeout = wanted.timeout};
    auto call = connection_->start(
        std::move(request),
        [flight](std::string_view piece) -> Status {
            if (flight->body.size() + piece.size() > most_of_a_body) {
                return fail(ErrorKind::invalid, "API server", "its answer is larger than 1 MiB");
            }
            flight->body += piece;
            return {};
        },
        [this, flight](Result<http::Reply> reply) {
            finish(flight, std::move(reply));
            pump();
        });
    if (!call) return finish(flight, tl::unexpected(call.error()));
    flight->call = std::move(*call);
}

// The function is called when the request is no longer under way: it may send another.
void ApiServer::finish(Flights::iterator flight, Result<http::Reply> reply) {
    const auto on_reply = std::move(flight->on_reply);
    const auto priority = flight->priority;
    auto answer = reply_of(std::move(reply), std::move(flight->body));
    flights_.erase(flight);
    if (answer && priority == ApiPriority::other) note_limit(*answer);
    on_reply(answer);
}

void ApiServer::note_limit(const port::ApiReply& reply) {
    const bool is_limit = reply.status == too_many_requests || reply.status == unavailable;
    if (!is_limit || !reply.retry_after) return;
    left_alone_until_ =
        sys::SystemClock().monotonic() + std::min<Duration>(longest_pause_asked_for, *reply.retry_after);
}

}  // namespace evictd::kube
