// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a container runtime and its log folders hold, as garbage collection needs it. Not for what a pod uses or wants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/units.hpp"

namespace evictd {

struct RuntimeImage {
    std::string id;
    Bytes size;
    WallTime first_detected;
    std::optional<WallTime> last_used;  // none: never
    bool pinned = false;
    bool in_use = false;  // by a container, running or not
};

struct RuntimeSandbox {
    std::string id;
    std::string pod;  // its uid
    bool ready = false;
    WallTime created;
};

enum class ContainerState : std::uint8_t { created, running, exited, unknown };

struct RuntimeContainer {
    std::string id;
    std::string pod;  // its uid
    std::string name;
    std::string sandbox;
    ContainerState state = ContainerState::exited;
    WallTime created;
};

// NAMESPACE_NAME_UID below /var/log/pods.
struct LogDirectory {
    std::string name;
};

// A link to a container's log below /var/log/containers.
struct LogLink {
    std::string path;
    bool dangling = false;
    std::optional<ContainerState> container;  // none: the runtime does not know it
};

struct Runtime {
    std::string sandbox_image;
    std::vector<RuntimeImage> images;
    std::vector<RuntimeSandbox> sandboxes;
    std::vector<RuntimeContainer> containers;
    std::vector<LogDirectory> log_directories;
    std::vector<LogLink> log_links;
};

}  // namespace evictd
