// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// YAML words as Kubernetes' reader takes them (sigs.k8s.io/yaml, YAML 1.1: yes and on are true, 010 is eight).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "document/node.hpp"

namespace evictd::document {

// Of a scalar without quotes and tag.
[[nodiscard]] Node::Kind kind_of_plain(std::string_view text);
[[nodiscard]] bool is_true(std::string_view text);
// Nothing where it is none, or does not fit. 1e3 is one in YAML, and none in JSON, which does not ask.
[[nodiscard]] std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace evictd::document
