// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's containerRuntimeEndpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evictd {

inline constexpr std::string_view runtime_endpoint_expected =
    "such as unix:///run/containerd/containerd.sock, its path at most 107 bytes";

// The path of the Unix socket that it names: unix:///PATH, unix:/PATH and /PATH, as the kubelet reads them.
[[nodiscard]] std::optional<std::string> runtime_socket(std::string_view endpoint);

}  // namespace evictd
