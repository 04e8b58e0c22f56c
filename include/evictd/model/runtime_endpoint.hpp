// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's containerRuntimeEndpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evictd {

// For error messages.
inline constexpr std::string_view runtime_endpoint_expected =
    "such as unix:///run/containerd/containerd.sock, its path at most 107 bytes";

// The path of the Unix socket in unix:///PATH, unix:/PATH or /PATH, as the kubelet reads them; it need not exist. None:
// another scheme (tcp, npipe), a relative path, a directory (PATH/), or one that is too long for sockaddr_un.
[[nodiscard]] std::optional<std::string> runtime_socket(std::string_view endpoint);

}  // namespace evictd
