// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What pods keep on disk, of the survey and of the runtime's figures, put into an observation. Slow lanes made both;
// nothing here waits.
#pragma once

#include <optional>
#include <vector>

#include "evictd/model/observation.hpp"
#include "evictd/model/survey.hpp"
#include "observe/container_layers.hpp"

namespace evictd::observe {

struct DiskFigures {
    SurveyPtr survey;           // null: nobody walks
    ContainerLayersPtr layers;  // null: there is no runtime, or it has not answered yet
    friend bool operator==(const DiskFigures&, const DiskFigures&) = default;  // the same figures, not equal ones
};

// For pods that have a usage. /etc/hosts, 4 KiB that the kubelet counts for limits, is left out. A pod of which
// something is not known, or was measured before `since`, is `disk_partial`.
void add_disk_usage(const DiskFigures& figures, MonotonicTime since, std::vector<ObservedPod>& pods);

// Whether a pod had volumes, or volumes or containers, dead ones too, when they were last listed. None: volumes could
// not be.
[[nodiscard]] std::optional<bool> has_volumes(const DiskFigures& figures, const PodUid& pod);
[[nodiscard]] std::optional<bool> has_disk_data(const DiskFigures& figures, const PodUid& pod);

}  // namespace evictd::observe
