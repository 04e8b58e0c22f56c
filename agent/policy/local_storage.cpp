// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// emptyDirLimitEviction, podEphemeralStorageLimitEviction and containerEphemeralStorageLimitEviction of
// eviction_manager.go, in this order.
#include "local_storage.hpp"

#include "container_usage.hpp"
#include "evictd/model/pod_requests.hpp"
#include "evictd/model/text.hpp"

namespace evictd::policy {
namespace {

bool exceeds(Bytes used, const Quantity& limit) { return Quantity::of(used.value) > limit; }

// In memory or on disk: the limit is the volume's own.
std::optional<BrokenLimit> empty_dir_limit(const Pod& pod, const PodUsage& usage) {
    for (const auto& volume : pod.volumes) {
        if (volume.kind != VolumeKind::empty_dir || !volume.size_limit || volume.size_limit->sign() <= 0) continue;
        for (const auto& measured : usage.disk.empty_dirs) {
            if (measured.name == volume.name && exceeds(measured.used, *volume.size_limit)) {
                return BrokenLimit{LimitKind::empty_dir, volume.name, *volume.size_limit, measured.used};
            }
        }
    }
    return std::nullopt;
}

std::optional<BrokenLimit> pod_limit_broken(const Pod& pod, const PodUsage& usage) {
    const auto limit = pod_limit(pod, &ResourceList::ephemeral_storage);
    if (!limit) return std::nullopt;
    const auto& disk = usage.disk;
    const Bytes used = disk.rootfs + disk.logs + disk.volumes - disk.host_path;
    if (!exceeds(used, *limit)) return std::nullopt;
    return BrokenLimit{LimitKind::pod, {}, *limit, used};
}

std::optional<BrokenLimit> container_limit(const Pod& pod, const PodUsage& usage, FsLayout layout) {
    const bool image_fs_apart = layout == FsLayout::dedicated_image_fs || layout == FsLayout::split;
    for (const auto& container : pod.containers) {
        const auto& limit = container.limits.ephemeral_storage;
        if (!limit || limit->is_zero()) continue;
        const auto measured = container_usage(container, pod, usage).value_or(ContainerUsage{});
        const Bytes rootfs = image_fs_apart ? Bytes{0} : measured.rootfs.value_or(Bytes{0});
        const Bytes used = measured.logs.value_or(Bytes{0}) + rootfs;
        if (exceeds(used, *limit)) return BrokenLimit{LimitKind::container, container.name, *limit, used};
    }
    return std::nullopt;
}

}  // namespace

bool may_break_limit(const Pod& pod) {
    const ComputedResources* computed = pod.computed.known();
    return computed == nullptr || computed->has_storage_limit;
}

std::optional<BrokenLimit> broken_limit(const ObservedPod& observed, FsLayout layout) {
    if (!observed.usage) return std::nullopt;
    const Pod& pod = *observed.pod;
    if (!may_break_limit(pod)) return std::nullopt;
    if (auto broken = empty_dir_limit(pod, *observed.usage)) return broken;
    if (auto broken = pod_limit_broken(pod, *observed.usage)) return broken;
    return container_limit(pod, *observed.usage, layout);
}

std::string limit_message(const BrokenLimit& broken) {
    const std::string limit = to_string(broken.limit);
    switch (broken.kind) {
        case LimitKind::empty_dir:
            return "Usage of EmptyDir volume " + in_quotes(broken.name) + " exceeds the limit " + in_quotes(limit) +
                   ". ";
        case LimitKind::pod:
            return "Pod ephemeral local storage usage exceeds the total limit of containers " + limit + ". ";
        case LimitKind::container:
            return "Container " + broken.name + " exceeded its local ephemeral storage limit " + in_quotes(limit) +
                   ". ";
    }
    return {};
}

}  // namespace evictd::policy
