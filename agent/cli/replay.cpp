// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd replay: what the policy makes of a scenario or of a tape. Touches nothing, and needs neither root nor an
// agent.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/output_format.hpp"
#include "cli/page.hpp"
#include "cli/replay_tape.hpp"
#include "cli/verb.hpp"
#include "command/terminal.hpp"
#include "config/load.hpp"
#include "document/text_file.hpp"
#include "replay/player.hpp"
#include "replay/scenario.hpp"
#include "replay/step_json.hpp"
#include "replay/step_text.hpp"
#include "replay/tape_looks.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::style_of;

namespace {

struct ReplayOptions {
    std::vector<std::string> files;
    std::optional<std::string> with;
    std::string output = "text";
    [[nodiscard]] bool json() const { return output == "json"; }
};

Exit play_scenario(const replay::Scenario& scenario, bool json) {
    end_quietly({});
    const auto style = style_of(STDOUT_FILENO);
    replay::Player player(scenario);
    Page page;
    for (const auto& step : scenario.steps) {
        const auto result = player.play(step);
        if (json) {
            replay::append_json(scenario, result, page.text());
        } else {
            replay::append_text(scenario, result, style, page.text());
        }
        if (const auto printed = page.turn(); !printed) {
            return tell(printed.error());
        }
    }
    const auto printed = page.flush();
    return printed ? Exit::fine : tell(printed.error());
}

Exit replay_scenario(const ReplayOptions& options, const std::optional<Config>& other) {
    if (options.files.size() > 1) {
        (void)tell(
            Error{ErrorKind::invalid, options.files[1], "one scenario at a time", "several files are for a tape"});
        return Exit::usage;
    }
    const std::string& path = options.files.front();
    const auto text = document::read_text_file(path, document::scenario_limits);
    if (!text) {
        return tell({text.error()});
    }
    const std::string name = path == "-" ? "standard input" : path;
    if (text->starts_with(codec::tape_mark)) {
        return tell(Error{ErrorKind::invalid, name, "a tape is played from a file, not from a pipe", {}});
    }
    const auto scenario = replay::parse_scenario(*text, name);
    if (!scenario) {
        return tell(scenario.error());
    }
    if (scenario->steps.empty()) {
        return tell(Error{ErrorKind::invalid, name, "no steps", "a scenario has at least one, such as {at: 0s}"});
    }
    return other ? compare_scenario(*scenario, *other, *options.with, options.json())
                 : play_scenario(*scenario, options.json());
}

Exit replay_files(const ReplayOptions& options) {
    std::optional<Config> other;
    if (options.with) {
        auto loaded = config::load_file(*options.with);
        if (!loaded) {
            return tell(loaded.error());
        }
        other = std::move(*loaded);
    }
    if (std::none_of(options.files.begin(), options.files.end(), replay::is_tape)) {
        return replay_scenario(options, other);
    }
    return other ? compare_tapes(options.files, *other, *options.with, options.json())
                 : play_tapes(options.files, options.json());
}

}  // namespace

void add_replay(CLI::App& program, Action& action) {
    auto options = std::make_shared<ReplayOptions>();
    auto* verb = program.add_subcommand("replay", "Run the policy over a scenario or a tape and show its decisions");
    verb->add_option("FILE", options->files,
                     "a scenario (YAML or JSON; - reads standard input), or the files of a tape, the oldest first")
        ->type_name("")
        ->option_text(" ")
        ->required();
    add_output(*verb, options->output, {"text", "json"});
    verb->add_option("--with", options->with, "show where this configuration would decide differently")
        ->type_name("FILE");
    verb->footer(
        "A scenario has pods, and steps in time with the node's measurements:\n"
        "\n"
        "  config: {evictionHard: {memory.available: 1Gi}}\n"
        "  node: {capacity: {memory: 3Gi}}\n"
        "  pods:\n"
        "  - metadata: {name: web, namespace: default}\n"
        "    spec: {containers: [{name: app, resources: {requests: {memory: 100Mi}}}]}\n"
        "  steps:\n"
        "  - {at: 0s, available: {memory.available: 2Gi}, usage: {default/web: {memory: 700Mi}}}\n"
        "  - {at: 10s, available: {memory.available: 512Mi}}\n"
        "\nA tape is written by 'evictd run --record'. Every look is decided again; the first decision that differs\n"
        "from the recorded one is an error (exit status 1). With --with the differences are printed, and the exit\n"
        "status is 0. Measurements are as recorded: after the first eviction that differs, the node would have\n"
        "measured others.\n"
        "\nExamples:\n"
        "  evictd replay night.yaml\n"
        "  evictd replay /var/lib/evictd/node.tape.1 /var/lib/evictd/node.tape\n"
        "  evictd replay --with stricter.yaml /var/lib/evictd/node.tape\n"
        "  evictd replay -o json night.yaml | jq -c 'select(.evict) | [.at, .evict.pod]'");
    verb->callback([options, &action] { action = [options] { return replay_files(*options); }; });
}

}  // namespace evictd::cli
