// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The answers of CRI v1 (runtime.v1, k8s.io/cri-api) as values of the model: the fields that evictd needs, and no
// others. Pure. Every error is `invalid`: the answer as a whole does not count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::cri {

[[nodiscard]] Result<RuntimeVersion> read_version(std::string_view message);                    // VersionResponse
[[nodiscard]] Result<std::vector<RuntimeCondition>> read_conditions(std::string_view message);  // StatusResponse
[[nodiscard]] Result<std::string> read_sandbox_image(std::string_view message);              // StatusResponse, verbose
[[nodiscard]] Result<std::vector<RuntimeSandbox>> read_sandboxes(std::string_view message);  // ListPodSandboxResponse
[[nodiscard]] Result<std::vector<RuntimeContainer>> read_containers(
    std::string_view message);                                                          // ListContainersResponse
[[nodiscard]] Result<std::vector<RuntimeImage>> read_images(std::string_view message);  // ListImagesResponse
[[nodiscard]] Result<RuntimeFilesystems> read_filesystems(std::string_view message);    // ImageFsInfoResponse
// ListContainerStatsResponse: containers whose layer was measured.
[[nodiscard]] Result<std::vector<RuntimeContainer>> read_layers(std::string_view message);
[[nodiscard]] Result<RuntimeSandboxDetails> read_sandbox(std::string_view message);      // PodSandboxStatusResponse
[[nodiscard]] Result<RuntimeContainerDetails> read_container(std::string_view message);  // ContainerStatusResponse

}  // namespace evictd::cri
