// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/cgroup_dirs.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/pod_cgroup.hpp"
#include "kernel/pod_name.hpp"

namespace evictd::kernel {
namespace {

// Pods lie at most this deep below the pods' root: QoS class, pod (POD_DEPTH of bpf/lib/cgroup.bpf.h, CgroupWatch).
constexpr int max_pod_depth = 2;

std::string last_component(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Whether a pod that may make cgroups has made this one: it names it as it likes, also as another pod's.
bool is_inside_a_pod(const std::string& below_root) {
    for (auto at = below_root.find('/', 1); at != std::string::npos; at = below_root.find('/', at + 1)) {
        if (pod_uid_of(last_component(below_root.substr(0, at)))) {
            return true;
        }
    }
    return false;
}

}  // namespace

CgroupDirs::CgroupDirs(Hierarchies hierarchies, std::string cgroup_root, const std::string& driver, std::size_t spares)
    : hierarchies_(std::move(hierarchies)),
      cgroup_root_(std::move(cgroup_root)),
      cgroupfs_(driver == "cgroupfs"),
      spare_(spares) {
    while (!cgroup_root_.empty() && cgroup_root_.back() == '/') {
        cgroup_root_.pop_back();
    }
}

// As the kubelet's two drivers name it, and as it is nested under kind's kubelet.
std::vector<std::string> CgroupDirs::candidates() const {
    std::vector<std::string> paths;
    for (const char* tail :
         {"/kubepods.slice", "/kubepods", "/kubelet.slice/kubelet-kubepods.slice", "/kubelet/kubepods"}) {
        paths.push_back(cgroup_root_ + tail);
    }
    if (cgroupfs_) {
        std::swap(paths[0], paths[1]);
        std::swap(paths[2], paths[3]);
    }
    return paths;
}

std::string CgroupDirs::searched() const {
    std::string text;
    for (const auto& path : candidates()) {
        text += (text.empty() ? "" : ", ") + path;
    }
    return text;
}

// Only ENOENT and ENOTDIR prove that one is not there. After any other error the one that was found before is taken to
// be there still.
std::vector<port::PodsRoot> CgroupDirs::roots_there(const std::optional<port::PodsRoot>& before) {
    std::vector<port::PodsRoot> there;
    unknown_root_.clear();
    for (const auto& path : candidates()) {
        struct stat status {};
        if (stat((hierarchies_.memory + path).c_str(), &status) == 0) {
            const auto level = static_cast<std::uint32_t>(std::count(path.begin(), path.end(), '/'));
            if (S_ISDIR(status.st_mode)) {
                there.push_back({path, CgroupId{status.st_ino}, level});
            }
        } else if (const int error_number = errno; error_number != ENOENT && error_number != ENOTDIR) {
            unknown_root_ = sys::fail_errno(path, error_number).value().text();
            if (before && before->path == path) {
                there.push_back(*before);
            }
        }
    }
    return there;
}

// A kubelet whose driver was changed leaves the old root behind, empty. What cannot be read may be populated.
bool CgroupDirs::has_processes(const port::PodsRoot& root) const {
    const auto cgroup = CgroupHandle::open(hierarchies_, root.path);
    if (!cgroup) {
        return cgroup.error().kind != ErrorKind::vanished;
    }
    const auto populated = (*cgroup)->populated();
    return populated ? *populated : populated.error().kind != ErrorKind::vanished;
}

// Of several, the first with running pods is taken, else the first.
Result<port::PodsRoot> CgroupDirs::find_pods_root() {
    const auto there = roots_there(std::exchange(root_, std::nullopt));
    living_.clear();
    for (const auto& root : there) {
        if (there.size() > 1 && has_processes(root)) {
            root_ = living_.empty() ? root : root_;
            living_.push_back(root.path);
        }
    }
    if (!root_ && !there.empty()) {
        root_ = there.front();
    }
    if (root_) {
        return *root_;
    }
    if (!unknown_root_.empty()) {
        return fail(ErrorKind::failed, "pods' cgroup", "it is unknown whether there is one: " + unknown_root_);
    }
    return fail(ErrorKind::vanished, "pods' cgroup", "not found (" + searched() + ")");
}

void CgroupDirs::collect(const std::string& path, int depth, const std::function<void(port::FoundPod)>& visit) const {
    std::error_code error;
    for (std::filesystem::directory_iterator it(hierarchies_.memory + path, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code unknown;
        if (!it->is_directory(unknown)) {
            if (unknown) {
                refuse(sys::fail_errno(it->path(), unknown.value()).value());
            }
            continue;
        }
        const std::string name = it->path().filename();
        std::string child = path;
        child.append("/").append(name);
        if (pod_uid_of(name)) {
            if (auto pod = pod_at(child)) {
                visit(std::move(*pod));
            }
        } else if (depth < max_pod_depth) {
            collect(child, depth + 1, visit);
        }
    }
    if (error) {
        refuse(sys::fail_errno(path, error.value()).value());
    }
}

// What is gone again is no trouble: its removal is news of its own.
void CgroupDirs::refuse(const Error& error) const {
    if (error.kind != ErrorKind::vanished) {
        refused_++;
        refusal_ = error.text();
    }
}

Status CgroupDirs::each_pod(const std::function<void(port::FoundPod)>& visit) const {
    if (!root_) {
        return fail(ErrorKind::vanished, "pods' cgroup", "not found (" + searched() + ")");
    }
    refused_ = 0;
    (void)spare_.release();
    collect(root_->path, 1, visit);
    spare_.refill();
    return complete() ? Status{} : fail(ErrorKind::failed, "pods' cgroups", refusal_);
}

std::optional<port::FoundPod> CgroupDirs::pod_at(const std::string& path, std::optional<CgroupId> id) const {
    if (!root_ || !path.starts_with(root_->path + "/") || is_inside_a_pod(path.substr(root_->path.size()))) {
        return std::nullopt;
    }
    auto uid = pod_uid_of(last_component(path));
    if (!uid) {
        return std::nullopt;
    }
    auto cgroup = open(path, id);
    return cgroup ? std::optional(port::FoundPod{std::move(*uid), std::move(cgroup)}) : std::nullopt;
}

port::PodCgroupPtr CgroupDirs::opened_at(const std::string& path) const {
    const std::scoped_lock lock(opened_mutex_);
    const auto known = opened_.find(path);
    return known == opened_.end() ? nullptr : known->second.lock();
}

void CgroupDirs::remember(const std::string& path, const port::PodCgroupPtr& cgroup) const {
    const std::scoped_lock lock(opened_mutex_);
    if (opened_.size() >= sweep_at_) {
        std::erase_if(opened_, [](const auto& entry) { return entry.second.expired(); });
        sweep_at_ = std::max(sweep_at_, 2 * opened_.size());
    }
    opened_[path] = cgroup;
}

port::PodCgroupPtr CgroupDirs::open_ahead(const std::string& path) const {
    if (!pod_uid_of(last_component(path))) {
        return nullptr;
    }
    auto cgroup = CgroupHandle::open(hierarchies_, path);
    if (!cgroup) {
        return nullptr;  // pod_at() tries again, and says why not
    }
    remember(path, *cgroup);
    return std::move(*cgroup);
}

// What is held open keeps its inode number, so an equal number is the same cgroup.
port::PodCgroupPtr CgroupDirs::open(const std::string& path, std::optional<CgroupId> id) const {
    if (auto held = opened_at(path)) {
        struct stat status {};
        if (!id && stat((hierarchies_.memory + path).c_str(), &status) == 0) {
            id = CgroupId{status.st_ino};
        }
        if (id == held->id()) {
            return held;
        }
    }
    auto cgroup = CgroupHandle::open(hierarchies_, path);
    if (!cgroup && cgroup.error().kind == ErrorKind::exhausted && spare_.release()) {
        cgroup = CgroupHandle::open(hierarchies_, path);
        spare_.refill();
    }
    if (cgroup) {
        remember(path, *cgroup);
        return std::move(*cgroup);
    }
    refuse(cgroup.error());
    return nullptr;
}

std::string CgroupDirs::trouble() const {
    if (living_.size() > 1) {
        return "pods run below " + living_[0] + " and below " + living_[1] + "; only those below " + living_[0] +
               " are watched";
    }
    if (refused_ == 0 && !unknown_root_.empty()) {
        return "it is unknown whether pods run below " + unknown_root_;
    }
    return refused_ == 0 ? std::string()
                         : std::to_string(refused_) + " of the pods' cgroups cannot be opened, and what is not " +
                               "held open of them cannot be evicted: " + refusal_;
}

}  // namespace evictd::kernel
