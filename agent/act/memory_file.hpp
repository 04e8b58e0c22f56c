// SPDX-License-Identifier: Apache-2.0
// A file that remembers for the next agent what this one has to put back, if it is killed.
#pragma once

#include <string>

#include "evictd/model/result.hpp"

namespace evictd::act {

// What is remembered is of the running boot only: ids begin anew with the next.
[[nodiscard]] std::string boot_id();

// Written without fsync: it has to outlive the agent, not the machine, and must not wait for a disk. Empty: removed.
Status remember_text(const std::string& path, const std::string& text);

}  // namespace evictd::act
