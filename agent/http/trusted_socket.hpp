// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which Unix socket is believed to be a privileged server's: the kubelet's, or the container runtime's.
#pragma once

#include <string>

#include "evictd/model/result.hpp"

namespace evictd::http {

// Whether the socket is there. Error: it is not root's (or this user's), is no socket, or others may replace it: what
// another user says of pods is not the server's word.
[[nodiscard]] Result<bool> has_trusted_socket(const std::string& path);

}  // namespace evictd::http
