// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where pods keep what counts as their local storage: volumes below the kubelet's root, logs, etc-hosts. It finds and
// opens the trees; walking them is walk.hpp's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "evictd/model/result.hpp"
#include "evictd/model/survey.hpp"
#include "sys/fd.hpp"

namespace evictd::disk {

struct PodDirectories {
    std::string pods = "/var/lib/kubelet/pods";
    std::string logs = "/var/log/pods";
};

struct TreePlace {
    PodUid pod;
    TreeKind kind = TreeKind::empty_dir;
    std::string name;  // of the volume or the container
    std::string path;  // below `pods`, or of logs below `logs`
};

struct TreeListing {
    std::vector<TreePlace> trees;
    std::string trouble{};  // not empty: a directory could not be read to its end, and there may be more
};

// IsLocalEphemeralVolume of the kubelet: emptyDir (in memory too, which policy tells apart by the pod's spec),
// configMap and gitRepo. Other volumes are not touched: what is mounted there may not answer. Not hostPath: the kubelet
// does not measure it either (MetricsNil). Pods' directories are named by UID, their logs' NAMESPACE_NAME_UID. `beat`
// is called between directories.
[[nodiscard]] TreeListing list_trees(const PodDirectories& directories, const std::function<void()>& beat);

// Neither follows symbolic links below `directories`, nor opens what is mounted there unless it is a local filesystem:
// a memory-backed emptyDir is one, a network or FUSE mount that a pod made there is not, and is an error.
[[nodiscard]] Result<sys::Fd> open_tree(const PodDirectories& directories, const TreePlace& place);

}  // namespace evictd::disk
