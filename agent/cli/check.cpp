// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd check: is this configuration valid, and what does it mean? Needs no root and no agent.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/verb.hpp"
#include "command/terminal.hpp"
#include "config/describe.hpp"
#include "config/load.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::print;
using command::wants_colour;

namespace {

struct CheckOptions {
    std::string file;
    bool kubelet = false;
};

Exit check(const CheckOptions& options) {
    const auto config =
        config::load_file(options.file, options.kubelet ? config::Dialect::kubelet : config::Dialect::evictd);
    if (!config) {
        return tell(config.error());
    }
    end_quietly({});
    const auto printed = print(config::describe(*config, wants_colour(STDOUT_FILENO)));
    return printed ? Exit::fine : tell(printed.error());
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    auto options = std::make_shared<CheckOptions>();
    auto* verb = program.add_subcommand("check", "Validate a configuration and print the resulting thresholds");
    verb->add_option("FILE", options->file, "the configuration (YAML or JSON)")
        ->type_name("")
        ->option_text(" ")
        ->required();
    verb->add_flag("--kubelet-config", options->kubelet,
                   "FILE is the kubelet's: ignore unknown keys, even without 'kind'");
    verb->footer(
        "Every fault is reported at once, as FILE:LINE: KEY: what is wrong (what would be right).\n"
        "\nExamples:\n"
        "  evictd check /etc/evictd/config.yaml\n"
        "  evictd check --kubelet-config /var/lib/kubelet/config.yaml");
    verb->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace evictd::cli
