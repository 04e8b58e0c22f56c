// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's last good answer to GET /configz, kept in the state directory for a start at which the kubelet does not
// answer: a node that boots, or a kubelet that hangs under the very pressure that evictd is there for. Not a cache: a
// kubelet that answers always counts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::app {

// As long as an answer of the kubelet may be, and the lines before it.
inline constexpr std::size_t longest_kept_kubelet = (std::size_t{1} << 20U) + 4096;

struct KeptKubelet {
    std::string text;  // of /configz, as it was received; whether it is a configuration is not checked here
    WallTime at;       // when it was received, by the clock of then
};

[[nodiscard]] std::string kept_kubelet_path(const AgentConfig& config);

// Mode 0600, whole or not at all; readers see the old answer or the new. Waits for the disk's cache, not for the disk.
// Error: no space, or a directory that others can change; what was kept before is still there.
[[nodiscard]] Status keep_kubelet(const std::string& path, const std::string& node, const KeptKubelet& kept);

// None: nothing was kept. Error: it cannot be read, others can write to it, it is not whole, or it is of another node
// (a state directory that was copied with a machine's image).
[[nodiscard]] Result<std::optional<KeptKubelet>> read_kept_kubelet(const std::string& path, const std::string& node);

}  // namespace evictd::app
