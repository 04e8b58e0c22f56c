// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Messages of CRI that are parts of several others. For messages*.cpp alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cri/fields.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::cri {

struct ReadUsage {
    std::string directory;
    std::optional<std::int64_t> used;
    std::optional<std::int64_t> inodes;
    WallTime at{};
};

Status read_usage(std::string_view bytes, ReadUsage& into);                      // FilesystemUsage
Status read_image_spec(std::string_view bytes, std::string& into);               // ImageSpec: its image
Status read_sandbox_metadata(std::string_view bytes, RuntimeSandbox& into);      // PodSandboxMetadata
Status read_container_metadata(std::string_view bytes, RuntimeContainer& into);  // ContainerMetadata
Status read_attributes(std::string_view bytes, RuntimeContainer& into);          // ContainerAttributes

// A value that is not known here is taken for one that is alive: nothing of it is to be removed.
Status take_sandbox_state(const Field& field, bool& is_ready);
Status take_container_state(const Field& field, ContainerState& into);

// Of labels and annotations only those that are used: a pod may have a quarter of a MiB of others, in entries of some
// bytes that take a hundred each in a map, of memory that is locked.
Status take_known_entry(const Field& field, RuntimeLabels& into);

// The pod's uid, by the label that the kubelet sets; empty without it.
void note_pod(RuntimeContainer& container);

}  // namespace evictd::cri
