// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An API server that keeps what it was asked, and answers when and what a test says.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "evictd/port/api_server.hpp"

namespace evictd::fakes {

class ScriptedApiServer final : public port::ApiServer {
public:
    bool send(port::ApiRequest request, OnReply on_reply) override {
        if (is_full) {
            return false;
        }
        requests.push_back(std::move(request));
        waiting_.push_back(std::move(on_reply));
        while (!ready.empty() && !waiting_.empty()) {
            const auto reply = std::move(ready.front());
            ready.pop_front();
            answer(reply);
        }
        return true;
    }
    // To the oldest request without an answer.
    void answer(const Result<port::ApiReply>& reply) {
        const auto on_reply = std::move(waiting_.front());
        waiting_.pop_front();
        on_reply(reply);
    }
    void answer(long status, const std::string& body = {}) {
        answer(port::ApiReply{.status = status, .body = body, .retry_after = {}});
    }
    void hang_up() { answer(fail(ErrorKind::unreachable, "API server", "connection refused")); }
    [[nodiscard]] std::size_t unanswered() const { return waiting_.size(); }

    std::vector<port::ApiRequest> requests;
    std::deque<Result<port::ApiReply>> ready;  // for requests to come, within send()
    bool is_full = false;

private:
    std::deque<OnReply> waiting_;
};

}  // namespace evictd::fakes
