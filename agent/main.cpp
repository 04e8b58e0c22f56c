// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.hpp"
#include "sys/held_signals.hpp"

// Before anything else: `run` must not be ended between two instructions. What ends by a signal releases them.
int main(int argc, char** argv) {
    evictd::sys::hold_signals();
    return evictd::cli::run(argc, argv);
}
