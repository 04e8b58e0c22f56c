// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cli/verb.hpp"

namespace evictd::cli {

Exit tell(const Error& error) {
    std::cerr << "evictd: " << error.text() << '\n';
    switch (error.kind) {
        case ErrorKind::unreachable:
            return Exit::unreachable;
        case ErrorKind::not_permitted:
            return Exit::not_permitted;
        default:
            return Exit::no;
    }
}

bool wants_colour(int fd) {
    const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): before any thread is made
    return isatty(fd) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

int run(int argc, char** argv) {
    CLI::App program{"evictd relieves a Kubernetes node of pressure before the kernel has to.", "evictd"};
    program.set_version_flag("--version", "evictd " EVICTD_VERSION);
    program.require_subcommand(1);
    Action action;
    add_run(program, action);
    try {
        program.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        return program.exit(help);
    } catch (const CLI::CallForVersion& version) {
        return program.exit(version);
    } catch (const CLI::ParseError& error) {
        std::cerr << "evictd: " << error.what() << " (see evictd --help)\n";
        return static_cast<int>(Exit::usage);
    }
    try {
        return static_cast<int>(action());
    } catch (const std::exception& error) {
        std::cerr << "evictd: internal error: " << error.what() << '\n';
        return static_cast<int>(Exit::no);
    }
}

}  // namespace evictd::cli
