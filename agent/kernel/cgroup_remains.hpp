// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Empty cgroups of pods, removed below directory handles. By rmdir alone, which the kernel refuses where a process is.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "evictd/model/units.hpp"
#include "evictd/port/cgroup_remains.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class CgroupRemains final : public port::CgroupRemains {
public:
    // As for volumes (disk::PodRemains).
    static constexpr Duration longest_removal = std::chrono::seconds(5);

    // `mounts`: of all hierarchies, that by which pods are found last, so that what is left of one is found again
    // (hierarchy_mounts()). `roots`: pods' roots, paths below these (CgroupDirs::candidates()).
    CgroupRemains(std::vector<std::string> mounts, std::vector<std::string> roots, Duration longest = longest_removal)
        : mounts_(std::move(mounts)), roots_(std::move(roots)), longest_removal_(longest) {}

    [[nodiscard]] Result<std::string> life(const PodUid& pod, const std::string& path) override;
    [[nodiscard]] Status remove(const PodUid& pod, const std::string& path) override;

private:
    // In one hierarchy.
    struct Place {
        sys::Fd parent;
        sys::Fd cgroup;
    };
    [[nodiscard]] Result<std::vector<Place>> open(const PodUid& pod, const std::string& path) const;
    // As life(), of what is open.
    [[nodiscard]] Result<std::string> life_in_all(const std::vector<Place>& places, const std::string& path) const;

    std::vector<std::string> mounts_;
    std::vector<std::string> roots_;
    Duration longest_removal_;
};

}  // namespace evictd::kernel
