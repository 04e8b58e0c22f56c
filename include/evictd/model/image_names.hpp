// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The names of images in all spellings that runtimes, manifests and configurations have for the same one. Names only:
// which image has one now is the runtime's word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/runtime.hpp"

namespace evictd {

// An ID without "sha256:".
[[nodiscard]] std::string_view digits_of_image(std::string_view id);
// The same of an ID of content, 64 digits: it is of the same image for ever, while a tag moves. Empty: it is none.
[[nodiscard]] std::string_view digits_of_content(std::string_view name);

// What `name` may be listed as: itself; as containerd completes it (ParseDockerRef of distribution/reference:
// "pause:3.9@sha256:..." is "docker.io/library/pause@sha256:...", "nginx" is "docker.io/library/nginx:latest"); and the
// digits of its digest or ID. Two names are of one image if they have one of these in common.
[[nodiscard]] std::vector<std::string> spellings_of_image(std::string_view name);

// Whether `name` may mean `image`: by its ID, by a digest whatever the repository, or by a tag, each in any spelling.
// Where a name has a tag and a digest, either will do. An empty name means none.
[[nodiscard]] bool may_be_named(const RuntimeImage& image, std::string_view name);

}  // namespace evictd
