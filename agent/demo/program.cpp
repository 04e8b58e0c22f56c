// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/program.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include "command/demo_options.hpp"
#include "command/exit.hpp"
#include "command/terminal.hpp"
#include "command/usage.hpp"
#include "demo/demo.hpp"
#include "demo/load_words.hpp"
#include "demo/source_script.hpp"
#include "load/load.hpp"
#include "sys/sibling.hpp"

namespace evictd::demo {
namespace {

using command::Exit;

Exit play(const command::DemoOptions& options) {
    if (command::is_script(options.scenario)) {
        return command::tell(become_script(options.scenario));
    }
    if (options.scenario == "thrash" && options.no_bpf) {
        return command::tell({ErrorKind::invalid, "demo", "without BPF it is not known which pod causes a stall",
                              "leave --no-bpf out, or play another scenario"});
    }
    auto agent = sys::sibling_program("evictd");
    if (!agent) {
        return command::tell(agent.error());
    }
    const auto faults = run_demo({.scenario = from_name<Scenario>(options.scenario).value_or(Scenario::spike),
                                  .agent = std::move(*agent),
                                  .json = options.output == "json",
                                  .bpf = !options.no_bpf,
                                  .steering = !options.no_steering,
                                  .style = [] { return command::style_of(STDOUT_FILENO); },
                                  .rows = [] { return command::rows_of(STDOUT_FILENO); }});
    if (!faults) {
        return command::tell(faults.error());
    }
    if (options.output == "json") {
        for (const auto& fault : *faults) {
            std::cerr << "evictd: demo: " << fault << '\n';
        }
    }
    return faults->empty() ? Exit::fine : Exit::no;
}

Exit show(const CLI::App& program, const CLI::Success& wanted) {
    std::ostringstream text;
    program.exit(wanted, text, text);
    const auto printed = command::print(text.str());
    return printed ? Exit::fine : command::tell(printed.error());
}

Exit parse_and_play(int argc, char** argv) {
    CLI::App program{std::string(command::demo_about), std::string(program_name)};
    program.set_version_flag("--version", "evictd-demo " EVICTD_VERSION);
    command::DemoOptions options;
    command::add_demo_options(program, options);
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success& wanted) {
        return show(program, wanted);
    } catch (const CLI::ParseError& error) {
        std::cerr << program_name << ": " << command::usage_fault(error) << " (see " << program_name << " --help)\n";
        return Exit::usage;
    }
    return play(options);
}

}  // namespace

int run_program(int argc, char** argv) {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty() && words[0] == load_verb) {
        (void)::prctl(PR_SET_NAME, program_name.data());  // for the kernel's log: it was started as /proc/self/exe
        load::run(std::string(program_name) + " " + std::string(load_verb), {words.begin() + 1, words.end()});
    }
    try {
        return static_cast<int>(parse_and_play(argc, argv));
    } catch (const std::exception& error) {
        std::cerr << "evictd: internal error: " << error.what() << '\n';
        return static_cast<int>(Exit::no);
    }
}

}  // namespace evictd::demo
