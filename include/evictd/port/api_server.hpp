// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests to the API server beside the watch of pods: short ones, each with a time limit. Knows no Kubernetes object.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "evictd/model/api_figures.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

// An eviction's request is sent at once. All others share the client's rate limit, client-go's: five a second, ten at
// once. A server that answers one of these with 429 or 503 and Retry-After is left alone by all of them for that long.
enum class ApiPriority : std::uint8_t { eviction, other };

// A server that has just started answers 403 to everybody until it has read the roles: for seconds. One that does so
// for longer means it.
inline constexpr Duration longest_start = std::chrono::minutes(1);

struct ApiRequest {
    std::string method = "GET";
    std::string path;  // with its query, "/api/v1/nodes/n1"
    std::string content_type{};
    std::string body{};                          // at most 1 MiB
    Duration timeout = std::chrono::seconds(5);  // from when it is sent; what it waited for the rate limit is not in it
    ApiPriority priority = ApiPriority::other;
    // For the rate limit, a pause that the server asked for, or a connection. Then it is answered with an error of kind
    // unreachable and never sent: who asked may want something else by now. Less than who asked waits for the answer.
    Duration longest_wait = std::chrono::seconds(10);
};

struct ApiReply {
    long status = 0;
    std::string body;  // at most 1 MiB; of a refusal its beginning
    std::optional<std::chrono::seconds> retry_after;

    [[nodiscard]] bool accepted() const { return status >= 200 && status < 300; }
};

class ApiServer {
public:
    // Once for each request, in a thread of the server's. It must return quickly, and may send another request. An
    // error: no answer, or not all of it: the server may have done what was asked.
    // A request that is not answered when the agent ends is dropped: the function is destroyed without a call. So
    // whoever must not lose a request notes it before it is sent.
    using OnReply = std::function<void(const Result<ApiReply>&)>;

    ApiServer() = default;
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;
    virtual ~ApiServer() = default;

    // Thread-safe, never waits. False: too many requests wait already, the body is too large, or the agent ends;
    // `on_reply` is not called.
    virtual bool send(ApiRequest request, OnReply on_reply) = 0;
    // Of all requests so far, those of the list and watch of pods included. Thread-safe.
    [[nodiscard]] virtual ApiFigures figures() const { return {}; }
};

}  // namespace evictd::port
