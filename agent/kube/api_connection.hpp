// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The connection to the API server that the watch of pods and all other requests share, so that a request needs no TLS
// handshake: HTTP/2 multiplexes them, and the watch keeps the connection open. It runs in one lane. Knows no Kubernetes
// object and does not retry.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "http/client.hpp"
#include "kube/api_access.hpp"
#include "kube/api_counters.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

class ApiConnection {
public:
    // A request under way, with the client that it is made with. Its destruction cancels it. It must not outlive the
    // connection.
    class Call {
    public:
        Call() = default;
        void cancel() { *this = Call(); }
        // The server answered: with headers at least.
        [[nodiscard]] bool was_heard() const { return was_heard_ && *was_heard_; }
        explicit operator bool() const { return static_cast<bool>(call_); }

    private:
        friend class ApiConnection;
        std::shared_ptr<bool> was_heard_;
        std::shared_ptr<http::Client> client_;
        http::Client::CallPtr call_;  // the last member: it goes before its client
    };

    // All must outlive it. All in the lane's thread.
    ApiConnection(sys::Lane& lane, AccessSource& access, ApiCounters& counters);
    ApiConnection(const ApiConnection&) = delete;
    ApiConnection& operator=(const ApiConnection&) = delete;
    ~ApiConnection() = default;

    // As http::Client::start(), with the token of now. Error: the credentials cannot be read, or there is no memory.
    // Requests that were not answered, or with 401, have credentials and certificates read again.
    Result<Call> start(http::Request request, http::Client::OnData on_data, http::Client::OnDone on_done,
                       ApiCounters::Kind kind = ApiCounters::Kind::request);

    // For a request that was refused or failed in another way: credentials and certificates are read again before the
    // next one.
    void read_access_again() { access_.forget(); }
    // The server does not answer any more on this connection: later requests use another. What is under way on it may
    // still be answered.
    void replace();

private:
    Status open();
    void sweep();
    void note_end(const std::string& method, ApiCounters::Kind kind, MonotonicTime began,
                  const Result<http::Reply>& reply);

    sys::Lane& lane_;
    AccessSource& access_;
    ApiCounters& counters_;
    int generation_ = 0;  // of the access that client_ is for
    std::shared_ptr<http::Client> client_;
    // Clients of earlier accesses whose calls have not ended. A client must not go while one of its functions runs, so
    // only the timer removes them.
    std::vector<std::shared_ptr<http::Client>> retired_;
    sys::Timer sweep_;
};

}  // namespace evictd::kube
