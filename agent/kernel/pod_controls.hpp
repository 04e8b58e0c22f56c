// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods' control files in the cgroup hierarchies, opened by path each time and only if it is the cgroup that was meant.
#pragma once

#include <atomic>
#include <utility>

#include "evictd/port/pod_controls.hpp"
#include "kernel/hierarchies.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class PodControls final : public port::PodControls {
public:
    explicit PodControls(Hierarchies hierarchies) : hierarchies_(std::move(hierarchies)) {}

    [[nodiscard]] Result<Bytes> usage(const port::CgroupPlace& pod) const override;
    [[nodiscard]] Status reclaim(const port::CgroupPlace& pod, Bytes bytes) const override;
    [[nodiscard]] Result<Bytes> limit(const port::CgroupPlace& pod) const override;
    [[nodiscard]] Status set_limit(const port::CgroupPlace& pod, Bytes limit) const override;
    [[nodiscard]] Result<bool> is_frozen(const port::CgroupPlace& pod) const override;
    [[nodiscard]] Status set_frozen(const port::CgroupPlace& pod, bool frozen) const override;

private:
    [[nodiscard]] Result<sys::Fd> open(const port::CgroupPlace& pod, const char* file, int flags) const;
    [[nodiscard]] Result<sys::Fd> open_freezer(const port::CgroupPlace& pod, int flags) const;

    Hierarchies hierarchies_;
    mutable std::atomic<bool> takes_swappiness_ = true;  // until the kernel says otherwise
};

}  // namespace evictd::kernel
