// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cli/agent_address.hpp"

#include <CLI/CLI.hpp>

namespace evictd::cli {

tl::expected<std::string, document::Faults> socket_path(const AgentAddress& address) {
    if (address.socket) {
        return *address.socket;
    }
    const auto config = config::load_files(std::nullopt, address.config);
    if (!config) {
        return tl::unexpected(config.error());
    }
    return config->agent.socket_path;
}

void add_address(CLI::App& verb, AgentAddress& address) {
    auto* socket = verb.add_option("--socket", address.socket, "the agent's socket (/run/evictd/evictd.sock)");
    socket->type_name("PATH")->option_text("PATH");
    verb.add_option("--config", address.config, "the agent's configuration, to find its socket")
        ->type_name("FILE")
        ->option_text("FILE")
        ->excludes(socket);
}

}  // namespace evictd::cli
