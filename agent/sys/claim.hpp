// SPDX-License-Identifier: Apache-2.0
// One agent for one set of pods: a lock on the pods' root itself, so that it holds whatever the two agents'
// configurations say, also between containers, and ends with the process however that ends.
#pragma once

#include <string>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::sys {

// Holds the directory until the Fd is closed. The error says that `what` is in use and names who holds it, as far as
// /proc/locks tells.
[[nodiscard]] Result<Fd> claim_directory(const std::string& path, const std::string& what, const std::string& remedy);

}  // namespace evictd::sys
