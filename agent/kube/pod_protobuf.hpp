// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A v1 Pod as k8s.io/api/core/v1 generated.proto encodes it, as the document that its JSON would be, so that one reader
// (pod_object) knows what a Pod means. Only fields that it reads are decoded.
#pragma once

#include <string_view>

#include "document/node.hpp"
#include "evictd/model/result.hpp"
#include "kube/pod_text.hpp"

namespace evictd::kube {

// Error (`invalid`): the bytes are no message, a field has another type or is given twice, or there are more values
// than in any Pod. Texts are as they were sent, also where they are not UTF-8: every output of ours replaces that.
[[nodiscard]] Result<document::Document> read_protobuf_pod(std::string_view message);

// What the beginning of a Pod says of it, also where the rest is cut off or cannot be read.
[[nodiscard]] ObjectHead protobuf_head_of(std::string_view beginning);

}  // namespace evictd::kube
