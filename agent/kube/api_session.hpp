// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A connection to the API server for a program that asks a few things and ends. Not for the agent, whose requests go
// over the connection of its watch (cluster_pods).
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "evictd/port/api_server.hpp"
#include "kube/api_connection.hpp"
#include "kube/api_server.hpp"
#include "sys/lane.hpp"

namespace evictd::kube {

class ApiSession {
public:
    static Result<std::unique_ptr<ApiSession>> make(AccessSource::Load access);
    ApiSession(const ApiSession&) = delete;
    ApiSession& operator=(const ApiSession&) = delete;
    ~ApiSession();  // drops what is not answered

    // As long as the session.
    [[nodiscard]] port::ApiServer& api() { return server_; }

private:
    explicit ApiSession(AccessSource::Load access) : access_(std::move(access)) {}

    AccessSource access_;
    ApiServer server_;
    std::optional<ApiConnection> connection_;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread uses the others
};

}  // namespace evictd::kube
