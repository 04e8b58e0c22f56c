// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the running agent listens, for the verbs that ask it: --socket, or what its configuration says, or the default.
#pragma once

#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "cli/verb.hpp"
#include "config/load.hpp"

namespace evictd::cli {

struct AgentAddress {
    std::optional<std::string> socket;
    std::optional<std::string> config;
};

// The socket's path, or every fault of the configuration.
[[nodiscard]] tl::expected<std::string, document::Faults> socket_path(const AgentAddress& address);

// Adds --socket and --config to `verb`; `address` must live until the verb ran.
void add_address(CLI::App& verb, AgentAddress& address);

}  // namespace evictd::cli
