// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A manifest's text as pods: one or many documents, each a Pod, PodList or List. Pure: text in, pods and faults out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/pod.hpp"
#include "evictd/model/result.hpp"

namespace evictd::kube {

struct ManifestPod {
    PodPtr pod;
    int uid_line;  // for a message about another pod with the same uid
};

struct Manifest {
    std::vector<ManifestPod> pods;
    std::vector<Error> rejected;  // kind invalid, `what` is FILE:LINE
};

// JSON if `file` ends in .json, else YAML. `origin`: every pod's.
[[nodiscard]] Manifest parse_manifest(const std::string& file, std::string_view text, std::optional<PodOrigin> origin);

}  // namespace evictd::kube
