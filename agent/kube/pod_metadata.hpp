// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// metadata of a v1 Pod: its identity, its origin and its owners. The rules for names are those of the API server.
#pragma once

#include <string>
#include <string_view>

#include "document/value.hpp"
#include "evictd/model/pod.hpp"
#include "kube/pod_object.hpp"

namespace evictd::kube {

using document::Value;

void read_metadata(const Value& metadata, const PodRules& rules, Pod& pod);

// RFC 1123, as apimachinery's IsDNS1123Label checks it.
[[nodiscard]] bool is_dns_label(std::string_view text);

// For names that stay within evictd: no control characters, blanks or slashes, nothing endless.
[[nodiscard]] bool is_one_word(std::string_view text);

}  // namespace evictd::kube
