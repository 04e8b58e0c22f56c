// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "command/interrupt.hpp"

#include <csignal>

namespace evictd::command {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note(int /*signal_number*/) { interrupted = 1; }

}  // namespace

void note_interrupts() {
    struct sigaction action {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    (void)::sigaction(SIGINT, &action, nullptr);
    (void)::sigaction(SIGTERM, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace evictd::command
