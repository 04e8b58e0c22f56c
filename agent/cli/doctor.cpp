// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd doctor: what this host can do, and what is lost where something is missing.
#include "doctor/doctor.hpp"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/output_format.hpp"
#include "cli/verb.hpp"
#include "command/terminal.hpp"
#include "config/load.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::print;
using command::style_of;

namespace {

struct DoctorOptions {
    std::optional<std::string> config;
    std::optional<std::string> kubelet_config;
    std::optional<std::string> socket;
    std::string output = "table";
};

Exit show_report(const DoctorOptions& options) {
    auto config = config::load_files(options.kubelet_config, options.config);
    if (!config) {
        return tell(config.error());
    }
    config->agent.socket_path = options.socket.value_or(config->agent.socket_path);
    const auto report = doctor::examine(*config);
    end_quietly({});
    const auto printed = print(options.output == "json" ? codec::doctor_json(report)
                                                        : codec::doctor_text(report, style_of(STDOUT_FILENO)));
    if (!printed) {
        return tell(printed.error());
    }
    return report.able ? Exit::fine : Exit::no;
}

}  // namespace

void add_doctor(CLI::App& program, Action& action) {
    auto options = std::make_shared<DoctorOptions>();
    auto* verb = program.add_subcommand(
        "doctor", "Check this host: kernel hooks, cgroups, permissions, and the impact of what is missing");
    add_output(*verb, options->output, {"table", "json"});
    verb->add_option("--config", options->config, "evictd's configuration (YAML or JSON)")->type_name("FILE");
    verb->add_option("--kubelet-config", options->kubelet_config, "the kubelet's configuration")->type_name("FILE");
    verb->add_option("--socket", options->socket, "socket of a running agent")->type_name("PATH");
    verb->footer(
        "Exit status: 0 if evictd can do its job here, 1 if not or if there are no pods to protect.\n"
        "It changes nothing and does not disturb a running agent.\n"
        "\nExamples:\n"
        "  evictd doctor\n"
        "  evictd doctor -o json | jq '.hooks[] | {check, chosen}'");
    verb->callback([options, &action] { action = [options] { return show_report(*options); }; });
}

}  // namespace evictd::cli
