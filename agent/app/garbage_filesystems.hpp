// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the node's filesystems have available, for `evictd gc`: what is missing by the thresholds, and what came back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "disk/filesystems.hpp"
#include "evictd/model/config.hpp"
#include "evictd/port/container_runtime.hpp"
#include "sys/clock.hpp"

namespace evictd::app {

class GarbageFilesystems {
public:
    // Asks the runtime where its images are, and waits until each filesystem has answered, a second at most. `clock`
    // must outlive the program's threads.
    GarbageFilesystems(port::ContainerRuntime& runtime, const std::string& kubelet_root, const sys::Clock& clock);

    // Of all of them together, each once. None: that of the images is not known.
    [[nodiscard]] std::optional<Bytes> available() const;
    // As policy::missing_bytes().
    [[nodiscard]] std::optional<Bytes> missing(const EvictionConfig& config) const;
    [[nodiscard]] std::vector<std::string> troubles() const;

private:
    [[nodiscard]] bool have_answered() const;

    std::string trouble_;  // why the runtime does not say where they are
    port::FilesystemPaths paths_;
    const sys::Clock& clock_;
    disk::Filesystems filesystems_;  // after the paths
};

}  // namespace evictd::app
