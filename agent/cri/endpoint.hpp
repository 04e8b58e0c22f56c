// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which socket is the container runtime's: the kubelet's containerRuntimeEndpoint, or one where runtimes usually have
// theirs. It connects to none.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/result.hpp"

namespace evictd::cri {

// The socket's path. None: nothing is configured, and there is none of the usual ones. Error: `configured` is no
// endpoint of this machine ("unix:///run/containerd/containerd.sock", or a path), or one of the usual ones is not to
// be trusted. Whether the one that is configured is there is not looked at: the runtime may start later.
[[nodiscard]] Result<std::optional<std::string>> find_endpoint(const std::string& configured);

}  // namespace evictd::cri
