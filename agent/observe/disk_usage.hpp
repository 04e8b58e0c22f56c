// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a pod uses of local storage, of the survey's trees and the pod's spec. Pure. Writable layers are not in it: the
// runtime knows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/model/observation.hpp"
#include "evictd/model/pod.hpp"
#include "evictd/model/survey.hpp"

namespace evictd::observe {

struct SurveyedUsage {
    DiskUsage disk;                          // its `rootfs` is left at 0
    std::vector<ContainerUsage> containers;  // `logs` only
    Bytes etc_hosts;                         // counts for the pod's limit, not for its rank (calcEphemeralStorage)
    MonotonicTime oldest;                    // when the walk of its oldest figure began
    // Not empty: some of it is not known, so that the pod uses at least this much.
    std::string trouble{};
};

// None: nothing is known of the pod's disks, or it has no directory. As podDiskUsage and podLocalVolumeUsage of the
// kubelet: volumes are emptyDirs on disk, configMaps and git checkouts; hostPath volumes are not measured.
[[nodiscard]] std::optional<SurveyedUsage> surveyed_usage(const Pod& pod, const Survey& survey);

}  // namespace evictd::observe
