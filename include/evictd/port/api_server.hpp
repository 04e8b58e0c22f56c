// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests to the API server beside the watch of pods: short ones, each with a time limit. Knows no Kubernetes object.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::port {

// An eviction's request is sent at once. All others share what the client's rate limit leaves.
enum class ApiPriority : std::uint8_t { eviction, other };

struct ApiRequest {
    std::string method = "GET";
    std::string path;  // with its query, "/api/v1/nodes/n1"
    std::string content_type{};
    std::string body{};
    Duration timeout = std::chrono::seconds(5);
    ApiPriority priority = ApiPriority::other;
};

struct ApiReply {
    long status = 0;
    std::string body;  // at most 1 MiB; of a refusal its beginning
    std::optional<std::chrono::seconds> retry_after;

    [[nodiscard]] bool accepted() const { return status >= 200 && status < 300; }
};

class ApiServer {
public:
    // Once for each request, in a thread of the server's. It must return quickly. An error: no answer.
    using OnReply = std::function<void(const Result<ApiReply>&)>;

    ApiServer() = default;
    ApiServer(const ApiServer&) = delete;
    ApiServer& operator=(const ApiServer&) = delete;
    virtual ~ApiServer() = default;

    // Thread-safe, never waits. False: too many requests wait already; `on_reply` is not called.
    virtual bool send(ApiRequest request, OnReply on_reply) = 0;
};

}  // namespace evictd::port
