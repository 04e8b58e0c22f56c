// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd health: whether the running agent is alive, for exec probes and scripts: an exit code and one line. A local
// user cannot answer for a dead agent, as with a port: the socket is root's.
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/agent_address.hpp"
#include "cli/verb.hpp"
#include "codec/status_request.hpp"
#include "command/terminal.hpp"
#include "evictd/model/text.hpp"
#include "publish/health_socket.hpp"
#include "publish/status_client.hpp"

namespace evictd::cli {
namespace {

struct HealthOptions {
    AgentAddress agent;
    bool ready = false;
};

Exit health(const HealthOptions& options) {
    const auto socket = socket_path(options.agent);
    if (!socket) {
        return tell(socket.error());
    }
    auto client = publish::StatusClient::connect(publish::health_socket_path(*socket));
    const auto line = client ? client->hear() : Result<std::string>(tl::unexpected(client.error()));
    if (!line) {
        return tell(line.error());
    }
    const auto answer = codec::health_from_json(*line);
    if (!answer) {
        return tell({ErrorKind::unreachable, "agent", "its answer is not about its health", "see its log"});
    }
    const bool is_well = answer->is_alive && (answer->is_ready || !options.ready);
    const auto printed = command::print((is_well ? std::string("ok") : printable(answer->detail)) + "\n");
    if (!printed) {
        return tell(printed.error());
    }
    return is_well ? Exit::fine : Exit::no;
}

}  // namespace

void add_health(CLI::App& program, Action& action) {
    auto options = std::make_shared<HealthOptions>();
    auto* verb = program.add_subcommand("health", "Whether the agent is alive, for probes");
    verb->add_flag("--ready", options->ready, "also whether it has looked at the node");
    add_address(*verb, options->agent);
    verb->footer(
        "Every thread of the agent has to give a proof of life. Needs root. Exit status: 0 it is alive, 1 it is not\n"
        "(the line says which thread hangs), 3 no agent is running or it does not answer within 5 s.\n"
        "\nExamples:\n"
        "  evictd health\n"
        "  evictd health --ready");
    verb->callback([options, &action] { action = [options] { return health(*options); }; });
}

}  // namespace evictd::cli
