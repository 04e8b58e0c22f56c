// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The list of verbs, and the one place where errors become exit codes.
#include "cli/cli.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/verb.hpp"
#include "command/terminal.hpp"
#include "command/usage.hpp"
#include "sys/held_signals.hpp"

namespace evictd::cli {

using command::end_quietly;
using command::print;

namespace {

void describe(CLI::App& program) {
    program.set_version_flag("--version", "evictd " EVICTD_VERSION);
    program.require_subcommand(1);
    program.footer(
        "Each verb has its own --help. Exit status: 0 fine, 1 failure or negative result, 2 wrong usage,\n"
        "3 the agent cannot be reached, 4 not permitted, 75 not now, try again.\n"
        "\nExamples:\n"
        "  evictd doctor                                 what this host can do, and what it cannot\n"
        "  evictd check /etc/evictd/config.yaml          what a configuration means\n"
        "  evictd run --config /etc/evictd/config.yaml   the agent, in the foreground\n"
        "  evictd status --watch                         what it sees, and which pod would go first\n"
        "  evictd demo                                   see it work, on this machine, in ten seconds");
}

Exit wrong_usage(const CLI::App& program, const CLI::ParseError& error) {
    std::string verb;
    for (const auto* called : program.get_subcommands()) {
        verb = called->get_name();
    }
    std::cerr << "evictd: " << (verb.empty() ? "command line" : verb) << ": " << command::usage_fault(error)
              << " (see evictd" << (verb.empty() ? "" : " ") << verb << " --help)\n";
    return Exit::usage;
}

bool has_verb(const CLI::App& program, const std::string& word) {
    return !program.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == word; }).empty();
}

// CLI11 would report a missing subcommand instead.
Exit unknown_verb(const CLI::App& program, const std::string& word) {
    std::string verbs;
    for (const auto* verb : program.get_subcommands({})) {
        if (!verb->get_group().empty()) {  // not a hidden one
            verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
        }
    }
    std::cerr << "evictd: " << word << ": unknown command (commands: " << verbs << ")\n";
    return Exit::usage;
}

// Help and the version, on stdout; a reader that goes away or a full disk is treated as everywhere.
int show(const CLI::App& program, const CLI::Success& wanted) {
    std::ostringstream text;
    program.exit(wanted, text, text);
    end_quietly({});
    const auto printed = print(text.str());
    return static_cast<int>(printed ? Exit::fine : tell(printed.error()));
}

}  // namespace

Exit tell_or_try_again(const Error& error) {
    const auto code = tell(error);
    return code == Exit::unreachable || error.kind == ErrorKind::exhausted ? Exit::try_again : code;
}

Exit tell(const document::Faults& faults) {
    Exit code = Exit::no;
    for (const auto& fault : faults) {
        std::cerr << "evictd: " << fault.text() << '\n';
        code = command::exit_of(fault.kind);
    }
    return code;
}

int run(int argc, char** argv) {
    CLI::App program{"evictd relieves a Kubernetes node of pressure before the kernel has to.", "evictd"};
    Action action;
    describe(program);
    for (const auto add : {add_run, add_status, add_events, add_explain, add_rank, add_replay, add_check, add_doctor,
                           add_npd, add_demo, add_completion, add_undo, add_cleanup, add_gc, add_health}) {
        add(program, action);
    }
    const std::string first = argc > 1 ? argv[1] : "";
    if (first != "run" && first != "undo") {
        sys::release_signals();
    }
    if (!first.empty() && first.front() != '-' && !has_verb(program, first)) {
        return static_cast<int>(unknown_verb(program, first));
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::Success& wanted) {
        return show(program, wanted);
    } catch (const CLI::ParseError& error) {
        return static_cast<int>(wrong_usage(program, error));
    }
    try {
        return static_cast<int>(action());
    } catch (const std::exception& error) {
        std::cerr << "evictd: internal error: " << error.what() << '\n';
        return static_cast<int>(Exit::no);
    }
}

}  // namespace evictd::cli
