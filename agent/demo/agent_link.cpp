// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/agent_link.hpp"

#include "publish/status_client.hpp"

namespace evictd::demo {

std::optional<codec::StatusParts> AgentLink::ask(const codec::TextStyle& style) const {
    auto client = publish::StatusClient::connect(socket_);
    if (!client) {
        return std::nullopt;
    }
    const auto answer = client->ask({.verb = codec::RequestVerb::status});
    auto parts = answer ? codec::status_parts(*answer, Signal::allocatable_memory_available, style)
                        : tl::unexpected<Error>(answer.error());
    return parts ? std::optional(std::move(*parts)) : std::nullopt;
}

}  // namespace evictd::demo
