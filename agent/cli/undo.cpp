// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd undo: puts back what an agent that was killed left, and lists it, for ExecStopPost and for people. The next
// agent does so too; this is for when there is none.
#include "app/undo.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/verb.hpp"
#include "command/terminal.hpp"
#include "config/load.hpp"

namespace evictd::cli {

using command::print;

namespace {

std::string list(const reconcile::PutBack& result, const AgentConfig& agent) {
    std::string text;
    for (const auto& line : result.done) {
        text += line + '\n';
    }
    for (const auto& line : result.left) {
        text += "left as it is: " + line + '\n';
    }
    if (result.nothing()) {
        text = "nothing to undo (looked at " + agent.state_path + ", " + agent.bpffs_path + " and " +
               agent.socket_path + ")\n";
    }
    return text;
}

Exit undo(const std::optional<std::string>& file) {
    if (geteuid() != 0) {
        return tell(
            {ErrorKind::not_permitted, "undo", "needs root to put back what an agent changed", "sudo evictd undo"});
    }
    const auto config = config::load_files(std::nullopt, file);
    if (!config) {
        return tell(config.error());
    }
    const auto result = app::undo(*config);
    if (!result) {
        Error error = result.error();
        if (error.kind == ErrorKind::unreachable) {
            error.remedy = "stop it first; it puts everything back itself";
        }
        return tell_or_try_again(error);
    }
    const auto printed = print(list(*result, config->agent));
    Exit code = printed ? Exit::fine : tell(printed.error());
    for (const auto& error : result->failed) {
        const auto kind = tell({error.kind, "undo: " + error.what, error.why, error.remedy});
        code = kind == Exit::not_permitted || code == Exit::not_permitted ? Exit::not_permitted : Exit::no;
    }
    return code;
}

}  // namespace

void add_undo(CLI::App& program, Action& action) {
    auto file = std::make_shared<std::optional<std::string>>();
    auto* verb = program.add_subcommand("undo", "Restore what a killed agent left changed, and list it");
    verb->add_option("--config", *file, "the agent's configuration (YAML or JSON)")->type_name("FILE");
    verb->footer(
        "Restores limits, freezers and oom_score_adj, and removes pins and the socket of an agent that was killed.\n"
        "Exit status: 0 if nothing is left, 1 if something could not be restored, 4 without root, 75 while an agent\n"
        "manages these pods.\n"
        "\nExamples:\n"
        "  evictd undo\n"
        "  evictd undo --config /etc/evictd/config.yaml");
    verb->callback([file, &action] { action = [file] { return undo(*file); }; });
}

}  // namespace evictd::cli
