// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The status socket's place in the file system: whether it is free.
#pragma once

#include <string>

#include "evictd/model/result.hpp"

namespace evictd::publish {

// Removes the socket of an agent that is dead, and waits for one that is being killed. True: there was one. An error:
// `unreachable`, an agent listens there; or the file there is no socket.
[[nodiscard]] Result<bool> clear_socket(const std::string& path);

}  // namespace evictd::publish
