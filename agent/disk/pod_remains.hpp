// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The directory that the kubelet keeps for a pod, removed below directory handles by the kubelet's rule
// (removeOrphanedPodVolumeDirs, cleanupOrphanedPodDirs): data of a volume plugin is never touched.
#pragma once

#include <chrono>
#include <string>

#include "disk/pod_mounts.hpp"
#include "evictd/model/units.hpp"
#include "evictd/port/pod_remains.hpp"

namespace evictd::disk {

class PodRemains final : public port::PodRemains {
public:
    // As for logs (PodLogs::longest_removal).
    static constexpr Duration longest_removal = std::chrono::seconds(5);

    explicit PodRemains(RemainsPlaces places, Duration longest = longest_removal)
        : places_(std::move(places)), longest_removal_(longest) {}

    [[nodiscard]] Result<std::string> life(const PodUid& pod) override;
    [[nodiscard]] Status check_volumes(const PodUid& pod) override;
    [[nodiscard]] Status remove_volumes(const PodUid& pod) override;

private:
    RemainsPlaces places_;
    Duration longest_removal_;
};

}  // namespace evictd::disk
