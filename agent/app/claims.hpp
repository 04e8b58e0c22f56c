// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What an agent must have for itself: the pods it works on, and the ledgers of what has to be put back.
#pragma once

#include <string>

#include "evictd/model/config.hpp"
#include "evictd/port/cgroups.hpp"
#include "sys/lock_file.hpp"

namespace evictd::app {

// One agent for one pods' root, whatever the configurations say: the lock's name comes from the root's cgroup id, which
// no other cgroup of this boot has. `patience`: how long an agent that is being killed is waited for. `unreachable`:
// another process holds it, which may pass.
[[nodiscard]] Result<sys::LockFile> claim_pods(const port::PodsRoot& root, Duration patience);

// One writer of the ledgers in `state_path`, which is made if it is not there: an agent with its guard, or `undo`.
// The guard of an agent that was killed is waited for, 5 s at most. Errors as above; `invalid`: others can change the
// directory.
[[nodiscard]] Result<sys::LockFile> claim_state(const std::string& state_path);

// The ledgers: of limits and freezes, and of raised oom_score_adj.
[[nodiscard]] std::string rungs_path(const AgentConfig& config);
[[nodiscard]] std::string raised_path(const AgentConfig& config);
// Of evictions that are not over, for a reboot.
[[nodiscard]] std::string intents_ledger_path(const AgentConfig& config);
// Kube events that the API server does not have yet.
[[nodiscard]] std::string kube_events_path(const AgentConfig& config);

}  // namespace evictd::app
