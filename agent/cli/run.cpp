// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd run: the agent, in the foreground.
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "app/config_reader.hpp"
#include "app/wiring.hpp"
#include "cli/verb.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/quantity.hpp"
#include "sys/log.hpp"

namespace evictd::cli {
namespace {

struct RunOptions {
    std::optional<std::string> config;
    std::optional<std::string> kubelet_config;
    bool dry_run = false;
    std::optional<std::string> record;
    std::string record_size;
};

using LoadFiles = decltype(config::load_files);

config::ConfigOutcome load(const RunOptions& options, LoadFiles& load_files,
                           const std::optional<config::KubeletText>& kubelet = {}) {
    auto config = load_files(options.kubelet_config, options.config, kubelet);
    if (config && options.dry_run) {
        config->agent.dry_run = true;
    }
    return config;
}

Result<std::optional<publish::TapeOptions>> tape(const RunOptions& options) {
    if (!options.record) {
        return std::nullopt;
    }
    publish::TapeOptions tape{.path = *options.record};
    if (options.record_size.empty()) {
        return tape;
    }
    const auto size = parse_quantity(options.record_size);
    if (!size || size->sign() <= 0) {
        return fail(ErrorKind::invalid, "--record-size", "invalid size \"" + options.record_size + "\"",
                    "expected a quantity such as 64Mi");
    }
    tape.max_size = {size->value()};
    return tape;
}

app::ConfigSource source_of(const RunOptions& options) {
    app::ConfigSource source;
    source.read = [options](const std::optional<config::KubeletText>& kubelet) {
        return load(options, config::reload_files, kubelet);
    };
    for (const auto& file : {options.kubelet_config, options.config}) {
        if (file && config::is_readable_again(*file)) {
            source.files.push_back(std::filesystem::absolute(*file).lexically_normal());
        }
    }
    source.stamp = app::config_stamp(source.files);
    return source;
}

Exit run_with(const Config& config, app::ConfigSource source, const std::optional<publish::TapeOptions>& record) {
    auto wiring = app::Wiring::make(config, std::move(source), record);
    if (!wiring) {
        return tell_or_try_again(wiring.error());
    }
    const auto ran = (*wiring)->run();
    if (!ran) {
        (void)tell(ran.error());
        return Exit::try_again;  // it worked until then: the service manager starts it again
    }
    return Exit::fine;
}

Exit run_agent(const RunOptions& options) {
    const auto record = tape(options);
    if (!record) {
        (void)tell(record.error());
        return Exit::usage;
    }
    auto source = source_of(options);
    const auto config = load(options, config::load_files);
    if (!config) {
        return tell(config.error());
    }
    for (const auto& warning : config->warnings) {
        sys::log::warn(warning);
    }
    try {
        return run_with(*config, std::move(source), *record);
    } catch (const std::exception& error) {  // no thread, no memory: the service manager starts it again
        std::cerr << "evictd: " << error.what() << '\n';
        return Exit::try_again;
    }
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    auto options = std::make_shared<RunOptions>();
    auto* verb =
        program.add_subcommand("run", "Run the agent in the foreground: watch this node and evict pods under pressure");
    verb->add_option("--config", options->config, "evictd's configuration (YAML or JSON)")->type_name("FILE");
    verb->add_option("--kubelet-config", options->kubelet_config,
                     "the kubelet's configuration, applied before --config")
        ->type_name("FILE");
    verb->add_flag("--dry-run", options->dry_run, "decide and report, but change nothing");
    auto* record = verb->add_option("--record", options->record, "write a tape for evictd replay")->type_name("FILE");
    verb->add_option("--record-size", options->record_size,
                     "maximum size of the tape, and of the previous one, FILE.1 (64Mi)")
        ->type_name("SIZE")
        ->needs(record);
    verb->footer(
        "SIGTERM, SIGINT and SIGQUIT stop it; it reloads its configuration on SIGHUP and when a file of it changes\n"
        "(an invalid one is rejected).\n"
        "It exits with 75 while another evictd manages the same pods.\n"
        "\nExamples:\n"
        "  evictd run --dry-run\n"
        "  evictd run --record /var/lib/evictd/node.tape\n"
        "  evictd run --kubelet-config /var/lib/kubelet/config.yaml --config /etc/evictd/config.yaml");
    verb->callback([options, &action] { action = [options] { return run_agent(*options); }; });
}

}  // namespace evictd::cli
