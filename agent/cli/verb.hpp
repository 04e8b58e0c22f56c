// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What verbs share: how one is added, what its exit code means, how an error is reported.
#pragma once

#include <functional>
#include <string>

#include "command/exit.hpp"
#include "document/fault.hpp"
#include "evictd/model/result.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace evictd::cli {

using command::Exit;
using command::tell;

// Set by the verb that was called; run after parsing.
using Action = std::function<Exit()>;

// As tell(), for verbs that take the agent's place: what another process holds now (`unreachable`), or the machine
// lacks
// (`exhausted`), may be there later.
Exit tell_or_try_again(const Error& error);
// Every fault, a line each: `evictd: FILE:LINE: KEY: what (remedy)`.
Exit tell(const document::Faults& faults);

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
void add_npd(CLI::App& program, Action& action);
void add_cleanup(CLI::App& program, Action& action);
void add_gc(CLI::App& program, Action& action);
void add_health(CLI::App& program, Action& action);
void add_undo(CLI::App& program, Action& action);

}  // namespace evictd::cli
