// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "disk_growers.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "rank.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A figure is as much older than the look as a walk and the wait for a look take, a second or two: over less than this
// that is most of the difference.
constexpr Duration shortest_growth = 5s;
// A tree that grows is walked again by then, so what is still the same has stopped.
constexpr Duration longest_growth = 30s;
// What was measured before that says nothing of now: the pod's tree cannot be walked any more.
constexpr Duration oldest_growth = 90s;
// Of the growth. Below it the pod is none of the reasons: something fills the disk that is nowhere measured.
constexpr std::int32_t least_share = 10;

bool is_usage_known(const ObservedPod& pod) {
    return pod.usage && !pod.usage->disk_partial && pod.cgroup != CgroupId{};
}

bool is_same(const DiskUsage& a, const DiskUsage& b) {
    const auto all = [](const DiskUsage& of) {
        return std::tuple(of.rootfs.value, of.logs.value, of.volumes.value, of.rootfs_inodes, of.logs_inodes,
                          of.volumes_inodes);
    };
    return all(a) == all(b);
}

const PodDiskTrend* find_pod(const std::vector<PodDiskTrend>& trends, CgroupId cgroup) {
    const auto found =
        std::lower_bound(trends.begin(), trends.end(), cgroup,
                         [](const PodDiskTrend& trend, CgroupId wanted) { return trend.cgroup.value < wanted.value; });
    return found == trends.end() || found->cgroup != cgroup ? nullptr : &*found;
}

// A pod may have any number of volumes: they are not copied.
DiskUsage kept_without_volumes(const DiskUsage& of) {
    return {.rootfs = of.rootfs,
            .logs = of.logs,
            .volumes = of.volumes,
            .host_path = of.host_path,
            .rootfs_inodes = of.rootfs_inodes,
            .logs_inodes = of.logs_inodes,
            .volumes_inodes = of.volumes_inodes,
            .empty_dirs = {}};
}

PodDiskTrend with_usage(const PodDiskTrend* old, const ObservedPod& pod, MonotonicTime now) {
    PodDiskReading newest{now, kept_without_volumes(pod.usage->disk)};
    if (old == nullptr || now < old->newest.at) return {pod.cgroup, newest, newest};
    const Duration over = now - old->newest.at;
    const bool is_due = is_same(old->newest.used, newest.used) ? over >= longest_growth : over >= shortest_growth;
    return is_due ? PodDiskTrend{pod.cgroup, old->newest, std::move(newest)} : *old;
}

// A second.
double growth_of(const PodDiskTrend& trend, Signal signal, FsLayout layout) {
    const double seconds = std::chrono::duration<double>(trend.newest.at - trend.before.at).count();
    const double grown = static_cast<double>(kept_of(signal, layout, trend.newest.used)) -
                         static_cast<double>(kept_of(signal, layout, trend.before.used));
    return seconds > 0 ? std::max(0.0, grown / seconds) : 0;
}

void name_grower(const std::vector<PodDiskTrend>& trends, const Observation& observation, DiskExhaustion& out) {
    double sum = 0;
    double most = 0;
    for (const auto& observed : observation.pods) {
        const auto* const trend = observed.pod ? find_pod(trends, observed.cgroup) : nullptr;
        const bool is_recent = trend != nullptr && observation.at - trend->newest.at <= oldest_growth;
        const double growth = !is_recent ? 0 : growth_of(*trend, out.signal, observation.fs_layout);
        sum += growth;
        if (growth <= most) continue;
        most = growth;
        out.pod = observed.pod->uid;
    }
    const double all = std::max(sum, static_cast<double>(out.falls.value));
    out.share_percent = all > 0 ? static_cast<std::int32_t>(std::lround(100 * most / all)) : 0;
    if (out.share_percent < least_share) {
        out.pod = {};
        out.share_percent = 0;
    }
}

}  // namespace

std::vector<PodDiskTrend> follow_pod_disks(std::vector<PodDiskTrend> before, const Observation& observation) {
    if (std::none_of(observation.pods.begin(), observation.pods.end(), is_usage_known)) return before;
    std::vector<PodDiskTrend> now;
    now.reserve(observation.pods.size());
    for (const auto& pod : observation.pods) {
        const auto* const old = find_pod(before, pod.cgroup);
        if (is_usage_known(pod)) {
            now.push_back(with_usage(old, pod, observation.at));
        } else if (old != nullptr) {
            now.push_back(*old);
        }
    }
    std::sort(now.begin(), now.end(),
              [](const PodDiskTrend& a, const PodDiskTrend& b) { return a.cgroup.value < b.cgroup.value; });
    return now;
}

void name_disk_growers(const std::vector<PodDiskTrend>& trends, const Observation& observation,
                       std::vector<DiskExhaustion>& exhaustion) {
    for (auto& out : exhaustion) name_grower(trends, observation, out);
}

}  // namespace evictd::policy
