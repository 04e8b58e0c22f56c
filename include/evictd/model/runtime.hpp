// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What a container runtime and its log folders hold, as garbage collection needs it. Not for what a pod uses or wants.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/units.hpp"

namespace evictd {

using RuntimeLabels = std::map<std::string, std::string>;

// The labels and annotations that are used; no others are kept. The kubelet sets them itself, whatever the pod says:
// KubernetesPodUIDLabel, and ConfigSourceAnnotationKey, which says where it got the pod from.
inline constexpr const char* pod_uid_label = "io.kubernetes.pod.uid";
inline constexpr const char* config_source_annotation = "kubernetes.io/config.source";

// What a directory or a file system holds, as of a time that may be long ago.
struct RuntimeUsage {
    Bytes used{};
    std::optional<std::int64_t> inodes{};  // none: the runtime does not say
    WallTime at{};
};

struct RuntimeImage {
    std::string id;
    Bytes size;
    WallTime first_detected;
    std::optional<WallTime> last_used;  // none: never
    bool pinned = false;
    bool in_use = false;                 // by a container, running or not; also where that cannot be told
    std::vector<std::string> tags{};     // "registry.k8s.io/pause:3.9"; none: it is dangling
    std::vector<std::string> digests{};  // "registry.k8s.io/pause@sha256:..."
    std::string spec{};                  // ImageSpec.image; empty: the runtime does not say
};

struct RuntimeSandbox {
    std::string id;
    std::string pod;  // its uid
    bool ready = false;
    WallTime created;
    std::string name{};  // the pod's
    std::string namespace_name{};
    std::uint32_t attempt = 0;
    std::string handler{};        // its RuntimeClass's; empty: the runtime's own
    RuntimeLabels labels{};       // those that are used: io.kubernetes.pod.uid
    RuntimeLabels annotations{};  // likewise: kubernetes.io/config.source
};

// What only PodSandboxStatus says.
struct RuntimeSandboxDetails {
    RuntimeSandbox sandbox{};
    std::string address{};  // empty: it has none, or the node's
    bool host_network = false;
    bool host_pid = false;
    bool host_ipc = false;
};

enum class ContainerState : std::uint8_t { created, running, exited, unknown };

struct RuntimeContainer {
    std::string id;
    std::string pod;  // its uid
    std::string name;
    std::string sandbox;
    ContainerState state = ContainerState::exited;
    WallTime created;
    std::uint32_t attempt = 0;
    std::string image{};      // as its manifest names it, or the image's ID
    std::string image_ref{};  // what it runs: the image's digest or ID, as the runtime likes it
    std::string image_id{};   // empty: the runtime does not say
    RuntimeLabels labels{};   // those that are used: io.kubernetes.pod.uid
    RuntimeLabels annotations{};
    std::optional<RuntimeUsage> layer{};  // its writable layer; none: not measured yet, or not asked
    // Images that it has mounted, as its mounts name them. Empty: none, or it was not asked.
    std::vector<std::string> image_volumes{};
};

// What only ContainerStatus says.
struct RuntimeContainerDetails {
    RuntimeContainer container{};
    std::optional<WallTime> started{};  // none: not yet
    std::optional<WallTime> finished{};
    int exit_code = 0;
    std::string reason{};  // "OOMKilled" is not "ended by OOM": a child that was killed leaves it behind for good
    std::string log_path{};
    std::string cgroup{};  // below the cgroup root, "/kubepods/..."; empty: the runtime does not say
    std::int32_t pid = 0;  // of its first process; 0: it has none, or the runtime does not say
};

// A file system as ImageFsInfo has it: the runtime knows no capacity.
struct RuntimeFilesystem {
    std::string directory{};  // in it, not where it is mounted
    RuntimeUsage usage{};
};

struct RuntimeFilesystems {
    std::vector<RuntimeFilesystem> images{};
    std::vector<RuntimeFilesystem> containers{};
};

struct RuntimeVersion {
    std::string name{};  // "containerd"
    std::string version{};
    std::string api{};  // "v1"
};

struct RuntimeCondition {
    std::string type{};  // "RuntimeReady", "NetworkReady"
    bool status = false;
    std::string reason{};
    std::string message{};
};

// NAMESPACE_NAME_UID below /var/log/pods.
struct LogDirectory {
    std::string name;
    std::optional<Bytes> size{};  // none: not measured
};

// A link to a container's log below /var/log/containers.
struct LogLink {
    std::string path;
    bool dangling = false;
    std::optional<ContainerState> container;  // none: the runtime does not know it
};

// A log that the kubelet has rotated away, "0.log.20261125-150405.gz". The runtime no longer writes to it.
struct RotatedLog {
    std::string path;
    std::string container;  // its id
    std::string pod;        // its uid
    Bytes size;
};

// Which lists were read to their end. What is missing in one that is not whole is unknown, not absent.
struct RuntimeLists {
    bool images = false;
    bool sandboxes = false;
    bool containers = false;
    bool logs = false;
};

struct Runtime {
    std::string sandbox_image;
    std::vector<RuntimeImage> images;
    std::vector<RuntimeSandbox> sandboxes;
    std::vector<RuntimeContainer> containers;
    std::vector<LogDirectory> log_directories;
    std::vector<LogLink> log_links;
    std::vector<RotatedLog> rotated_logs{};
    RuntimeLists whole{};
    MonotonicTime at{};     // when the first of the lists was asked for; zero: never yet
    MonotonicTime since{};  // since when uses of images are followed: an earlier one is not known
};

// Shared by all observations until the next inventory; never changed.
using RuntimePtr = std::shared_ptr<const Runtime>;

}  // namespace evictd
