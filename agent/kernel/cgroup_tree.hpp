// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A cgroup tree of our own, made, limited, filled and removed through libcgroup on v1, v2 and hybrid: for evictd-demo
// and for tests. Not for the node's pods, whose cgroups others make.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "kernel/hierarchies.hpp"

namespace evictd::kernel {

class CgroupTree {
public:
    // Makes `root` ("/evictd-demo-123") in every hierarchy that a pod is in: memory, and on v1 freezer and pids as far
    // as they are mounted. On v2 the controllers are switched on from the top down to it, and are left on.
    static Result<CgroupTree> make(const Hierarchies& hierarchies, const std::string& root);
    CgroupTree(CgroupTree&& other) noexcept;
    CgroupTree& operator=(CgroupTree&&) = delete;
    CgroupTree(const CgroupTree&) = delete;
    CgroupTree& operator=(const CgroupTree&) = delete;
    ~CgroupTree();  // remove(), as far as it goes

    [[nodiscard]] const std::string& root() const { return root_; }

    // Paths below the root: "/kubepods/burstable". Parents come first. On v2 only a leaf may hold processes.
    [[nodiscard]] Status create(const std::string& path);
    // What everything in and below `path` may use; no swap beside it. Read back: what the kernel took is what counts.
    [[nodiscard]] Status limit_memory(const std::string& path, Bytes limit);
    // Where `path` is in each hierarchy. A process enters it by writing to cgroup.procs in each of them.
    [[nodiscard]] Result<std::vector<std::string>> directories(const std::string& path) const;

    [[nodiscard]] Result<Bytes> usage(const std::string& path) const;
    // Processes that the kernel's OOM killer took in the whole tree.
    [[nodiscard]] Result<std::uint64_t> oom_kills() const;

    // v1 only, where a frozen process does not even die: lets everything run.
    void thaw();
    // Every cgroup made, the deepest first. The processes in them must have ended; the last of them may still be on its
    // way out, so it is tried for some seconds. The error names what is left.
    [[nodiscard]] Status remove();

private:
    CgroupTree(Hierarchies hierarchies, std::vector<std::string> controllers, std::string root)
        : hierarchies_(std::move(hierarchies)), controllers_(std::move(controllers)), root_(std::move(root)) {}
    [[nodiscard]] Result<std::string> read(const std::string& path, const char* v1, const char* v2) const;

    Hierarchies hierarchies_;
    std::vector<std::string> controllers_;
    std::string root_;
    std::vector<std::string> made_;  // full paths, parents first
};

// Removes trees whose maker died without doing so: top-level cgroups that `is_leftover` says yes to by name. Only empty
// ones go.
void remove_leftover_trees(const Hierarchies& hierarchies, const std::function<bool(const std::string&)>& is_leftover);

}  // namespace evictd::kernel
