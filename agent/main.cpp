// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <cstdio>
#include <iostream>

#include <unistd.h>

#include "cli/cli.hpp"
#include "sys/held_signals.hpp"
#include "sys/lane.hpp"

// Before anything else: `run` must not be ended between two instructions. What ends by a signal releases them.
int main(int argc, char** argv) {
    evictd::sys::hold_signals();
    const int code = evictd::cli::run(argc, argv);
    if (evictd::sys::Lane::any_left_behind()) {  // its thread may use what is global, which stays
        std::cout.flush();
        (void)std::fflush(nullptr);
        ::_exit(code);
    }
    return code;
}
