// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The pods' cgroups on disk: found by listing, held by directory handles, ended through them. It reads no usage.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "evictd/port/cgroups.hpp"
#include "kernel/hierarchies.hpp"
#include "sys/pi_mutex.hpp"
#include "sys/spare_descriptors.hpp"

namespace evictd::kernel {

class CgroupDirs final : public port::Cgroups {
public:
    // `cgroup_root`: the kubelet's --cgroup-root; the pods' root is looked for below it. `driver`: the kubelet's, whose
    // root is taken where several are there and none or each of them has running pods; empty: systemd.
    // `spares`: descriptors in reserve, for a listing and for pods that start while there are no others. A directory is
    // open on each level, and a pod keeps one or two.
    static constexpr std::size_t default_spares = 16;
    CgroupDirs(Hierarchies hierarchies, std::string cgroup_root, const std::string& driver = "",
               std::size_t spares = default_spares);

    [[nodiscard]] Result<port::PodsRoot> find_pods_root() override;
    Status each_pod(const std::function<void(port::FoundPod)>& visit) const override;
    [[nodiscard]] std::optional<port::FoundPod> pod_at(const std::string& path,
                                                       std::optional<CgroupId> id = std::nullopt) const override;
    // Thread-safe. Opens the cgroup if its name is a pod's: while the result is held, pod_at() finds it without a
    // system call. Null: it is no pod's name, or cannot be opened.
    [[nodiscard]] port::PodCgroupPtr open_ahead(const std::string& path) const;
    [[nodiscard]] bool complete() const override { return refused_ == 0; }
    [[nodiscard]] std::string trouble() const override;

    [[nodiscard]] const Hierarchies& hierarchies() const { return hierarchies_; }
    // The paths that were looked at, for people: "/kubepods, /kubepods.slice, ...".
    [[nodiscard]] std::string searched() const;
    // The same as paths below the memory hierarchy's mount point.
    [[nodiscard]] std::vector<std::string> candidates() const;

private:
    void collect(const std::string& path, int depth, const std::function<void(port::FoundPod)>& visit) const;
    std::vector<port::PodsRoot> roots_there(const std::optional<port::PodsRoot>& before);
    [[nodiscard]] bool has_processes(const port::PodsRoot& root) const;
    [[nodiscard]] port::PodCgroupPtr open(const std::string& path, std::optional<CgroupId> id) const;
    [[nodiscard]] port::PodCgroupPtr opened_at(const std::string& path) const;
    void remember(const std::string& path, const port::PodCgroupPtr& cgroup) const;
    void refuse(const Error& error) const;

    Hierarchies hierarchies_;
    std::string cgroup_root_;  // "" or "/prefix"
    bool cgroupfs_ = false;    // the kubelet's driver
    std::optional<port::PodsRoot> root_;
    std::vector<std::string> living_;  // where there are several roots: those with running pods
    std::string unknown_root_;         // which may be there, and why that cannot be said; empty: none
    // By path, as long as somebody holds them: listing 10,000 pods anew must not take 10,000 descriptors more.
    mutable std::unordered_map<std::string, std::weak_ptr<const port::PodCgroup>> opened_;
    mutable sys::PiMutex opened_mutex_;  // of opened_ and sweep_at_; never held while the kernel is asked
    mutable std::size_t sweep_at_ = 256;
    mutable std::size_t refused_ = 0;  // since the last listing began
    mutable std::string refusal_;      // the last
    mutable sys::SpareDescriptors spare_;
};

}  // namespace evictd::kernel
