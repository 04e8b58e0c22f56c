// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd demo: starts evictd-demo, a program of its own. Nothing of it is in the agent.
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/verb.hpp"
#include "command/demo_options.hpp"
#include "sys/fd.hpp"
#include "sys/sibling.hpp"

namespace evictd::cli {
namespace {

// Returns only if it could not be started.
Exit become_demo(const command::DemoOptions& options) {
    const auto program = sys::sibling_program("evictd-demo");
    if (!program) {
        const bool in_sources = command::is_script(options.scenario) && program.error().kind == ErrorKind::failed;
        return tell({program.error().kind, "demo", program.error().what + ": " + program.error().why,
                     in_sources
                         ? "run 'make demo SCENARIO=" + options.scenario + "' in evictd's source tree on Debian 12"
                         : program.error().remedy});
    }
    std::vector<std::string> words{"evictd-demo", "--scenario", options.scenario, "--output", options.output};
    if (options.no_bpf) {
        words.emplace_back("--no-bpf");
    }
    if (options.no_steering) {
        words.emplace_back("--no-steering");
    }
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (auto& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::execv(program->c_str(), arguments.data());
    return tell(sys::fail_errno(*program, errno).value());
}

}  // namespace

void add_demo(CLI::App& program, Action& action) {
    auto options = std::make_shared<command::DemoOptions>();
    auto* verb = program.add_subcommand("demo", std::string(command::demo_about));
    command::add_demo_options(*verb, *options);
    verb->callback([options, &action] { action = [options] { return become_demo(*options); }; });
}

}  // namespace evictd::cli
