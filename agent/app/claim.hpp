// SPDX-License-Identifier: Apache-2.0
// One agent for one set of pods: a lock on the pods' root itself, so that it holds whatever the two agents'
// configurations say, also between containers, and ends with the process however that ends.
#pragma once

#include <string>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::app {

// Holds the directory until the Fd is closed. The error names who holds it, as far as /proc/locks tells.
[[nodiscard]] Result<sys::Fd> claim_directory(const std::string& path);

}  // namespace evictd::app
