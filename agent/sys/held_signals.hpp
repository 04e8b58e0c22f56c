// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Signals of a program that must not end without cleaning up: held back from the first instruction to the last, and
// read from a descriptor. A second SIGTERM that comes while the first is being obeyed stays pending and changes
// nothing.
#pragma once

#include <optional>
#include <span>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::sys {

// Blocks SIGTERM, SIGINT, SIGQUIT and SIGHUP in this thread, to be called before any other thread is made (new threads
// inherit it), and ignores every other signal whose default is to end the process and that reports no fault of it:
// SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, the real-time signals and so on. SIGSEGV, SIGABRT and the like, and SIGXCPU,
// still end it.
void hold_signals();
// Everything as hold_signals() found it, for what is to end at once by a signal. One that came meanwhile is delivered
// now.
void release_signals();

// Becomes readable when one of these, which must be held, arrives. take_signal() says which; none: none is left.
[[nodiscard]] Result<Fd> open_signals(std::span<const int> signals);
[[nodiscard]] std::optional<int> take_signal(const Fd& signals);

}  // namespace evictd::sys
