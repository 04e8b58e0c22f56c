// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The answers of CRI v1 (runtime.v1, k8s.io/cri-api) as values of the model: the fields that evictd needs, and no
// others. Pure. Every error is `invalid`: the answer as a whole does not count.
// Lists may also be streamed (StreamPodSandboxesResponse, StreamContainersResponse, StreamImagesResponse,
// StreamContainerStatsResponse). Each message has some of the elements as its field 1, as the whole list has all of
// them, so the same functions read both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::cri {

// Elements of one list. Decoded, each takes 0.4 KiB at least, and up to 0.9 KiB while the list grows, though 8 bytes
// are enough for it in a message. So a list of the smallest takes 45 MiB; twice as many would take 90, and half as many
// are fewer than a streamed list of containers may have.
inline constexpr std::size_t most_elements = 50'000;
// Error: these are more. read_sandboxes() and the other lists check it themselves.
[[nodiscard]] Status check_count(std::size_t elements);

[[nodiscard]] Result<RuntimeVersion> read_version(std::string_view message);                    // VersionResponse
[[nodiscard]] Result<std::vector<RuntimeCondition>> read_conditions(std::string_view message);  // StatusResponse
[[nodiscard]] Result<std::string> read_sandbox_image(std::string_view message);     // StatusResponse, verbose
[[nodiscard]] Result<std::string> read_image_of_sandbox(std::string_view message);  // PodSandboxStatusResponse, verbose
[[nodiscard]] Result<std::vector<std::string>> read_image_volumes(std::string_view message);  // ContainerStatusResponse
[[nodiscard]] Result<std::vector<RuntimeSandbox>> read_sandboxes(std::string_view message);   // ListPodSandboxResponse
[[nodiscard]] Result<std::vector<RuntimeContainer>> read_containers(
    std::string_view message);                                                          // ListContainersResponse
[[nodiscard]] Result<std::vector<RuntimeImage>> read_images(std::string_view message);  // ListImagesResponse
[[nodiscard]] Result<RuntimeFilesystems> read_filesystems(std::string_view message);    // ImageFsInfoResponse
// ListContainerStatsResponse: containers whose layer was measured.
[[nodiscard]] Result<std::vector<RuntimeContainer>> read_layers(std::string_view message);
[[nodiscard]] Result<RuntimeSandboxDetails> read_sandbox(std::string_view message);      // PodSandboxStatusResponse
[[nodiscard]] Result<RuntimeContainerDetails> read_container(std::string_view message);  // ContainerStatusResponse

}  // namespace evictd::cri
