// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What verbs share: how one is added, what its exit code means, how an error is reported.
#pragma once

#include <functional>
#include <string>

#include "config/fault.hpp"
#include "evictd/model/result.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace evictd::cli {

// 0 fine; 1 failure or negative result; 2 wrong usage; 3 the agent cannot be reached; 4 not permitted; 75 not now, try
// again (EX_TEMPFAIL of sysexits.h, which the systemd unit restarts).
enum class Exit : int { fine = 0, no = 1, usage = 2, unreachable = 3, not_permitted = 4, try_again = 75 };

// Set by the verb that was called; run after parsing.
using Action = std::function<Exit()>;

// `evictd: what: why (what to do)` on stderr; the exit code that goes with the error's kind.
Exit tell(const Error& error);
// The same for verbs that take the agent's place: what another process holds now (`unreachable`), or the machine lacks
// (`exhausted`), may be there later.
Exit tell_or_try_again(const Error& error);
// Every fault, a line each: `evictd: FILE:LINE: KEY: what (remedy)`.
Exit tell(const config::Faults& faults);

// True where colour belongs: on a terminal, and without NO_COLOR.
[[nodiscard]] bool wants_colour(int fd);

// Each adds its verb to `program`.
void add_run(CLI::App& program, Action& action);
void add_status(CLI::App& program, Action& action);
void add_events(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_rank(CLI::App& program, Action& action);
void add_replay(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_doctor(CLI::App& program, Action& action);
void add_demo(CLI::App& program, Action& action);
void add_completion(CLI::App& program, Action& action);
void add_undo(CLI::App& program, Action& action);
void add_pod_process(CLI::App& program, Action& action);  // hidden: what runs in the demo's pods

}  // namespace evictd::cli
