// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Pods as the agent finds them: cgroups below a root of our own, manifests, and real processes inside. Everything it
// makes goes with it; it touches no other cgroup. It measures nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"
#include "kernel/hierarchies.hpp"

namespace evictd::bench {

// A BestEffort pod with one container; `place` tells uids of one tree apart.
struct BenchPod {
    std::string uid;
    std::string name;
    std::string cgroup;  // of the container, below the mount points
};

class PodTree {
public:
    // `directory` is made anew, whatever an earlier run left in it, and gets the manifests below "pods".
    static Result<std::unique_ptr<PodTree>> make(const std::string& directory);
    // Removes every tree whose maker is no longer alive: one that was killed cleans up nothing.
    static Status remove_leftovers();
    PodTree(const PodTree&) = delete;
    PodTree& operator=(const PodTree&) = delete;
    ~PodTree();

    // The pod's cgroups, then its manifest, renamed into place.
    Result<BenchPod> add(const std::string& name, const std::string& request);
    void remove(const BenchPod& pod);
    // Of the pod's own cgroup, in the memory hierarchy.
    [[nodiscard]] std::uint64_t id(const BenchPod& pod) const;

    // Runs `body` in a new process inside the pod's container: in all hierarchies, and only after it has read from
    // /proc that it is there. It is killed with this process.
    Result<pid_t> start(const BenchPod& pod, const std::function<void()>& body);
    // A process that holds memory and sleeps. The default is what a small service has touched; with it 1,000 pods take
    // a quarter of a GiB.
    static constexpr std::size_t small = std::size_t{256} << 10U;
    Result<pid_t> start_sleeper(const BenchPod& pod, std::size_t size = small);
    // Every sleeper gives its memory back and takes it anew, as a service at work does. Returns when they have begun.
    void stir() const;
    // Those started by start_sleeper() and no longer alive.
    [[nodiscard]] int dead_sleepers() const;

    // How often the kernel's OOM killer struck in the pod.
    [[nodiscard]] int oom_kills(const BenchPod& pod) const;
    // What all pods use, and the limit over them.
    [[nodiscard]] Bytes usage() const;
    Status set_limit(Bytes limit);
    Status set_limit(const BenchPod& pod, Bytes limit);  // its container's

    [[nodiscard]] const std::string& cgroup_root() const { return base_; }  // for the config
    [[nodiscard]] std::string pods_root() const { return base_ + "/kubepods"; }
    [[nodiscard]] const std::string& manifests() const { return manifests_; }
    [[nodiscard]] const kernel::Hierarchies& hierarchies() const { return hierarchies_; }

private:
    PodTree() = default;
    Status write_limit(const std::string& cgroup, Bytes limit);
    enum class Node { branch, leaf };
    Status make_cgroup(const std::string& path, Node node);
    void enter(const std::string& path) const;

    kernel::Hierarchies hierarchies_;
    std::vector<std::string> mounts_;  // every hierarchy that a pod's process must be in
    std::string base_;
    std::string manifests_;
    std::vector<std::string> made_;  // cgroups, in order
    std::vector<pid_t> sleepers_;
    int serial_ = 0;
};

}  // namespace evictd::bench
