// SPDX-License-Identifier: Apache-2.0
// One pod's cgroup, by open directories in the hierarchies that matter. A handle never means a cgroup made later under
// the same name: what it opens through a removed directory fails.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "evictd/port/cgroups.hpp"
#include "kernel/hierarchies.hpp"
#include "sys/fd.hpp"

namespace evictd::kernel {

class CgroupHandle final : public port::PodCgroup {
public:
    // `path` below the mount point.
    static Result<port::PodCgroupPtr> open(const Hierarchies& hierarchies, const std::string& path);

    [[nodiscard]] CgroupId id() const override { return id_; }
    [[nodiscard]] const std::string& path() const override { return path_; }
    [[nodiscard]] Result<std::vector<pid_t>> processes() const override;
    [[nodiscard]] bool can_kill() const override { return kill_file_.valid(); }
    [[nodiscard]] Status kill() const override;
    [[nodiscard]] bool can_freeze() const override { return freezer() >= 0; }
    [[nodiscard]] Status freeze() const override;
    [[nodiscard]] Status thaw() const override;

private:
    CgroupHandle() = default;
    [[nodiscard]] Result<sys::Fd> open_freezer() const;
    [[nodiscard]] int freezer() const;

    CgroupId id_;
    std::string path_;
    bool v2_ = false;
    std::string memory_path_;
    std::string freezer_path_;  // v1; empty: there is no freezer
    sys::Fd memory_;            // the directory in the memory hierarchy
    sys::Fd kill_file_;         // cgroup.kill, opened before it is needed
    mutable std::mutex mutex_;
    mutable sys::Fd freezer_;  // under mutex_: the directory to freeze in, the v1 freezer's, or memory_ again on v2
};

}  // namespace evictd::kernel
