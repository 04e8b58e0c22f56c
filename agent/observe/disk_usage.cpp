// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/disk_usage.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::observe {
namespace {

const Volume* volume_of(const Pod& pod, const std::string& name) {
    const auto found =
        std::find_if(pod.volumes.begin(), pod.volumes.end(), [&](const Volume& volume) { return volume.name == name; });
    return found == pod.volumes.end() ? nullptr : &*found;
}

void add(Bytes& bytes, std::int64_t& inodes, const TreeUsage& usage) {
    bytes += usage.used;
    inodes += usage.inodes;
}

void add_volume(const Pod& pod, const SurveyedTree& tree, const TreeUsage& usage, DiskUsage& disk) {
    const auto* volume = volume_of(pod, tree.name);
    if (tree.kind == TreeKind::empty_dir) {
        disk.empty_dirs.push_back({tree.name, usage.used});
        if (volume != nullptr && volume->in_memory) return;
    }
    // A volume that the spec does not name is left of another spec, and takes space all the same.
    add(disk.volumes, disk.volumes_inodes, usage);
}

void add_tree(const Pod& pod, const SurveyedTree& tree, const TreeUsage& usage, SurveyedUsage& result) {
    switch (tree.kind) {
        case TreeKind::empty_dir:
        case TreeKind::config_map:
        case TreeKind::git_repo:
            return add_volume(pod, tree, usage, result.disk);
        case TreeKind::container_logs:
            result.containers.push_back({tree.name, std::nullopt, std::nullopt, usage.used});
            return add(result.disk.logs, result.disk.logs_inodes, usage);
        case TreeKind::pod_logs:
            return add(result.disk.logs, result.disk.logs_inodes, usage);
        case TreeKind::etc_hosts:
            result.etc_hosts += usage.used;
            return;
    }
}

std::string trouble_of(const SurveyedTree& tree) {
    const std::string which = std::string(name(tree.kind)) + (tree.name.empty() ? "" : " " + printable(tree.name));
    if (!tree.usage) return which + ": " + (tree.trouble.empty() ? "not measured yet" : tree.trouble);
    return tree.usage->complete ? std::string{} : which + ": " + tree.usage->trouble;
}

}  // namespace

std::optional<SurveyedUsage> surveyed_usage(const Pod& pod, const Survey& survey) {
    const auto found = std::lower_bound(survey.pods.begin(), survey.pods.end(), pod.uid,
                                        [](const SurveyedPod& row, const PodUid& uid) { return row.uid < uid; });
    if (found == survey.pods.end() || found->uid != pod.uid) return std::nullopt;
    std::optional<SurveyedUsage> result;
    std::string trouble = survey.trouble;
    for (const auto& tree : found->trees) {
        if (trouble.empty()) trouble = trouble_of(tree);
        if (!tree.usage) continue;
        if (!result) result = SurveyedUsage{.oldest = tree.usage->began};
        result->oldest = std::min(result->oldest, tree.usage->began);
        add_tree(pod, tree, *tree.usage, *result);
    }
    if (result) result->trouble = std::move(trouble);
    return result;
}

}  // namespace evictd::observe
