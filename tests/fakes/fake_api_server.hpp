// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An API server that answers when the test says so, and what it says.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "evictd/port/api_server.hpp"

namespace evictd::fakes {

class FakeApiServer final : public port::ApiServer {
public:
    struct Sent {
        port::ApiRequest request;
        OnReply on_reply;
    };

    bool send(port::ApiRequest request, OnReply on_reply) override {
        if (is_full) return false;
        sent.push_back({std::move(request), std::move(on_reply)});
        return true;
    }
    void answer(std::size_t index, long status, std::string body = "",
                std::optional<std::chrono::seconds> retry_after = {}) {
        sent.at(index).on_reply(port::ApiReply{.status = status, .body = std::move(body), .retry_after = retry_after});
    }
    void cut(std::size_t index) {
        sent.at(index).on_reply(fail(ErrorKind::unreachable, "API server", "the connection was cut"));
    }

    std::vector<Sent> sent;
    bool is_full = false;
};

}  // namespace evictd::fakes
