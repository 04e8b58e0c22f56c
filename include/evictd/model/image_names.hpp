// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The spellings of an image's name: "nginx", "library/nginx:latest" and "docker.io/library/nginx" are one image.
#pragma once

#include <string_view>

#include "evictd/model/runtime.hpp"

namespace evictd {

// Whether `name` may mean `image`: by its ID, by a digest whatever the repository, or by a tag, each in any spelling.
// Where a name has a tag and a digest, either will do. An empty name means none.
[[nodiscard]] bool may_be_named(const RuntimeImage& image, std::string_view name);

// An ID without "sha256:".
[[nodiscard]] std::string_view digits_of_image(std::string_view id);

}  // namespace evictd
