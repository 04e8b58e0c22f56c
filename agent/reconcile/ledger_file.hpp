// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A ledger: a file that says what has to be put back, for the next agent if this one is killed. Its directory is only
// ours to change. One agent with its guard writes it at a time (app/claims.hpp).
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "evictd/model/result.hpp"

namespace evictd::reconcile {

// What is remembered is of the running boot only: ids begin anew with the next.
[[nodiscard]] std::string boot_id();

// Readers see the old text or the new. Written without fsync: it has to outlive the agent, not the machine, and must
// not wait for a disk. Empty: removed.
[[nodiscard]] Status write_ledger(const std::string& path, const std::string& text);

// To what write_ledger() wrote, which has to be there. A last line that is cut short is possible.
[[nodiscard]] Status append_ledger(const std::string& path, const std::string& text);

// Whatever its size, as a ledger has to be. None: there is no such file. An error: it cannot be read, another user can
// write to it, so that what has to be put back is unknown, or it has more than `limit` bytes.
[[nodiscard]] Result<std::optional<std::string>> read_ledger(
    const std::string& path, std::size_t limit = std::numeric_limits<std::size_t>::max());

// What a writer that was killed had not renamed yet: PATH.NUMBER.new. Only before anything writes this ledger.
void remove_unfinished(const std::string& path);

// Moves a ledger that says nothing usable out of the way, to PATH.broken, for people to look at.
[[nodiscard]] Status set_aside(const std::string& path);

}  // namespace evictd::reconcile
