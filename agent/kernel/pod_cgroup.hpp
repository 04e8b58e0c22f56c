// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// One pod's cgroup, by open directories in the hierarchies that matter. A handle never means a cgroup made later under
// the same name: what it opens through a removed directory fails.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "evictd/port/cgroups.hpp"
#include "kernel/cgroup_walk.hpp"
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
    Status each_batch(port::Listing listing,
                      const std::function<bool(const port::ProcessBatch&)>& visit) const override;
    [[nodiscard]] Result<bool> holds_us() const override;
    [[nodiscard]] Result<bool> populated() const override;
    [[nodiscard]] bool surely_empty() const override;
    [[nodiscard]] Result<std::int64_t> tasks() const override;
    [[nodiscard]] Result<HeldMemory> held_memory() const override;
    [[nodiscard]] Result<bool> drop_cache() const override;
    [[nodiscard]] bool can_kill() const override { return kill_file_.valid(); }
    [[nodiscard]] Status kill() const override;
    [[nodiscard]] bool can_freeze() const override { return v2_ || !freezer_.empty(); }
    [[nodiscard]] Status freeze() const override;
    [[nodiscard]] Status thaw() const override;

private:
    CgroupHandle() = default;
    [[nodiscard]] Result<sys::Fd> open_freezer() const;
    [[nodiscard]] Result<sys::Fd> open_pids() const;
    [[nodiscard]] Status each_process(int top, const std::function<Walk(pid_t)>& visit,
                                      std::size_t* left = nullptr) const;
    using VisitBatch = std::function<bool(const port::ProcessBatch&)>;
    [[nodiscard]] Status each_batch_below(int top, bool threads, bool& stopped, const VisitBatch& visit) const;
    [[nodiscard]] Status await_frozen(int directory) const;

    CgroupId id_;
    std::string path_;
    bool v2_ = false;
    sys::Fd memory_;                // the directory in the memory hierarchy
    std::string pids_;              // the directory in v1's pids hierarchy; empty: there is none, or it is v2
    std::optional<ino_t> pids_id_;  // its inode; none: it was not there yet
    std::string mount_;             // of the memory hierarchy
    std::string freezer_;           // the directory in v1's freezer hierarchy; empty: there is none, or it is v2
    sys::Fd kill_file_;             // cgroup.kill, opened before it is needed
};

// For PodCgroup::holds_us() of every handle, once at the start: where no namespace says which cgroup is ours (in a
// container without CAP_SYS_ADMIN) the whole hierarchy is searched. From then on it is enough to see that the cgroup
// found still lists us. Without it, holds_us() walks the whole subtree of the pod it is asked about.
void find_own_cgroup(const Hierarchies& hierarchies);

}  // namespace evictd::kernel
