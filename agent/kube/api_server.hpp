// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests to the API server beside the list and watch of pods, over the same connection. Bounded, and limited in rate
// but for evictions. Does not retry and knows no Kubernetes object.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "evictd/port/api_server.hpp"
#include "kube/api_connection.hpp"
#include "kube/api_counters.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

class ApiServer final : public port::ApiServer {
public:
    // Of each priority. Under way, evictions: what a server allows in one connection is 100 (http2's
    // MaxConcurrentStreams); others: fewer, because each holds a reply of up to 1 MiB.
    static constexpr std::size_t most_waiting = 256;
    static constexpr std::size_t most_evictions_under_way = 32;
    static constexpr std::size_t most_others_under_way = 4;
    static constexpr std::size_t most_of_a_body = std::size_t{1} << 20U;
    // client-go's defaults (rest.DefaultQPS, rest.DefaultBurst).
    static constexpr double requests_a_second = 5;
    static constexpr double most_at_once = 10;

    // Takes requests at once, and sends them when it has a connection.
    ApiServer() = default;
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;
    ~ApiServer() override;

    bool send(port::ApiRequest request, OnReply on_reply) override;
    [[nodiscard]] ApiFigures figures() const override { return counters_.figures(); }
    [[nodiscard]] ApiCounters& counters() { return counters_; }

    // In the lane's thread, once. Both outlive what follows, up to drop().
    void open(sys::Lane& lane, ApiConnection& connection);
    // Thread-safe: no request is taken any more. Before the lane ends.
    void close();
    // Drops what is not answered, when the lane's thread is gone. Before the connection goes.
    void drop();

private:
    struct Waiting {
        port::ApiRequest request;
        OnReply on_reply;
        MonotonicTime not_after;  // it is not sent any more then
    };
    struct Flight {
        port::ApiPriority priority = port::ApiPriority::other;
        OnReply on_reply;
        std::string body;
        ApiConnection::Call call;  // the last member: its functions use the others
    };
    using Flights = std::list<Flight>;
    using Queue = std::deque<Waiting>;

    void pump();
    void send_evictions();
    void send_others();
    [[nodiscard]] std::optional<Waiting> take(Queue& queue);
    // Moves what has waited too long from the queues to expired_. Under mutex_.
    void expire(MonotonicTime now);
    void answer_expired();
    // Under mutex_, too: at `due`, or as soon as the next of the queues expires.
    void wake_at(std::optional<MonotonicTime> due);
    void start(Waiting waiting);
    void finish(Flights::iterator flight, Result<http::Reply> reply);
    void note_limit(const port::ApiReply& reply);
    [[nodiscard]] std::size_t under_way(port::ApiPriority priority) const;
    void refill(MonotonicTime now);

    ApiCounters counters_;
    std::mutex mutex_;
    sys::Lane* lane_ = nullptr;  // under mutex_; null: not open, or closed
    bool is_closed_ = false;     // under mutex_
    bool is_posted_ = false;     // under mutex_: a task that sends what waits is in the lane's queue
    Queue evictions_;            // under mutex_
    Queue others_;               // under mutex_
    Queue expired_;              // under mutex_: to be answered in the lane
    // The lane's.
    ApiConnection* connection_ = nullptr;
    Flights flights_;
    double tokens_ = most_at_once;
    MonotonicTime filled_at_;
    MonotonicTime left_alone_until_;
    sys::Timer again_;
};

}  // namespace evictd::kube
