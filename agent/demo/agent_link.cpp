// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/agent_link.hpp"

#include <array>

#include <unistd.h>

#include "publish/status_client.hpp"

namespace evictd::demo {

void AgentLink::read(const std::function<void(const std::string& line)>& on_line) {
    std::array<char, 16384> chunk{};
    ssize_t got = 0;
    while ((got = ::read(output_, chunk.data(), chunk.size())) > 0) {
        text_.append(chunk.data(), static_cast<std::size_t>(got));
    }
    std::size_t start = 0;
    for (auto end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', start)) {
        on_line(text_.substr(start, end - start));
        start = end + 1;
    }
    text_.erase(0, start);
}

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
