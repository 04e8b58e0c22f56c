// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The CLI's end of the status socket. Waits, so not for the agent itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "codec/status_request.hpp"
#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {

// One request a connection. Errors: `unreachable` when no agent listens or it stops answering, `not_permitted`, and
// whatever the agent itself answers.
class StatusClient {
public:
    static Result<StatusClient> connect(const std::string& path);

    // The whole answer, without its newline. For status and rank.
    Result<std::string> ask(const codec::StatusRequest& request);
    // Likewise, of a socket that says something by itself (health_socket).
    Result<std::string> hear();
    // Each line as it comes, until the agent ends the stream, which it does with an empty line, or `on_line` returns
    // false. Error: it broke off before. For events.
    Status stream(const codec::StatusRequest& request, const std::function<bool(std::string_view line)>& on_line);

private:
    explicit StatusClient(sys::Fd socket) : socket_(std::move(socket)) {}
    Status send(const codec::StatusRequest& request);

    sys::Fd socket_;
};

}  // namespace evictd::publish
