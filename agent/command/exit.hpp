// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How every program of ours ends: its exit code, and an error as one line on stderr.
#pragma once

#include "evictd/model/result.hpp"

namespace evictd::command {

// 0 fine; 1 failure or negative result; 2 wrong usage; 3 the agent cannot be reached; 4 not permitted; 75 not now, try
// again (EX_TEMPFAIL of sysexits.h, which the systemd unit restarts).
enum class Exit : int { fine = 0, no = 1, usage = 2, unreachable = 3, not_permitted = 4, try_again = 75 };

[[nodiscard]] Exit exit_of(ErrorKind kind);

// `evictd: what: why (what to do)` on stderr; the exit code that goes with the error's kind.
Exit tell(const Error& error);

}  // namespace evictd::command
