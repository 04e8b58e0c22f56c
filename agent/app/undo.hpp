// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd undo` does: every ledger, the pins and the socket of an agent that was killed.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "reconcile/put_back.hpp"

namespace evictd::app {

// `unreachable`: an agent works on these pods or keeps its ledgers there. It puts everything back itself when it ends.
// Where it is unknown whether there is a pods' cgroup, the rest is put back all the same, and that is among `failed`.
[[nodiscard]] Result<reconcile::PutBack> undo(const Config& config);

}  // namespace evictd::app
