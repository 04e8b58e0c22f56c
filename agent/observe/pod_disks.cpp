// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/pod_disks.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "observe/disk_usage.hpp"

namespace evictd::observe {
namespace {

bool is_listed(const Survey& survey) { return survey.listed != MonotonicTime{} && survey.trouble.empty(); }

const SurveyedPod* find_pod(const Survey& survey, const PodUid& uid) {
    const auto found = std::lower_bound(survey.pods.begin(), survey.pods.end(), uid,
                                        [](const SurveyedPod& row, const PodUid& wanted) { return row.uid < wanted; });
    return found == survey.pods.end() || found->uid != uid ? nullptr : &*found;
}

// A pod without a directory keeps nothing, if the directories were listed since it came.
bool has_none(const ObservedPod& observed, const Survey& survey) {
    const auto* const row = find_pod(survey, observed.pod->uid);
    if (row != nullptr) return row->trees.empty() && is_listed(survey);
    return is_listed(survey) && (!observed.arrived_at || survey.listed > *observed.arrived_at);
}

ContainerUsage& row_of(std::vector<ContainerUsage>& rows, const std::string& name) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
    return found != rows.end()
               ? *found
               : rows.emplace_back(ContainerUsage{.name = name, .working_set = {}, .rootfs = {}, .logs = {}});
}

void add_survey(const Survey* survey, MonotonicTime since, const ObservedPod& observed, PodUsage& usage) {
    auto surveyed = survey != nullptr ? surveyed_usage(*observed.pod, *survey) : std::nullopt;
    if (!surveyed) {
        usage.disk_partial = survey == nullptr || !has_none(observed, *survey);
        return;
    }
    usage.disk = std::move(surveyed->disk);
    usage.containers = std::move(surveyed->containers);
    usage.disk_partial = !surveyed->trouble.empty() || surveyed->oldest < since;
}

// A pod of which the runtime knows no container may be another's, or one that has just come.
void add_layers(std::span<const ContainerLayer> layers, PodUsage& usage) {
    usage.disk_partial = usage.disk_partial || layers.empty();
    for (const auto& layer : layers) {
        if (!layer.usage) {
            usage.disk_partial = true;
            continue;
        }
        row_of(usage.containers, layer.name).rootfs = layer.usage->used;
        usage.disk.rootfs += layer.usage->used;
        usage.disk.rootfs_inodes += layer.usage->inodes.value_or(0);
    }
}

std::span<const ContainerLayer> layers_of(const ContainerLayers* layers, const PodUid& pod) {
    if (layers == nullptr) return {};
    const auto begin =
        std::lower_bound(layers->of.begin(), layers->of.end(), pod,
                         [](const ContainerLayer& one, const PodUid& wanted) { return one.pod < wanted; });
    const auto end = std::find_if(begin, layers->of.end(), [&](const auto& one) { return one.pod != pod; });
    return {begin, end};
}

// All its processes went since the layers were listed, and with them its containers: those that run now are others.
bool is_anew(const ObservedPod& observed, const ContainerLayers* layers) {
    return layers != nullptr && observed.emptied_at >= layers->at;
}

bool is_volume(const SurveyedTree& tree) {
    return tree.kind == TreeKind::empty_dir || tree.kind == TreeKind::config_map || tree.kind == TreeKind::git_repo;
}

}  // namespace

void add_disk_usage(const DiskFigures& figures, MonotonicTime since, std::vector<ObservedPod>& pods) {
    const auto* const layers = figures.layers.get();
    const bool are_layers_old = layers != nullptr && layers->at < since;
    for (auto& observed : pods) {
        if (!observed.usage) continue;
        add_survey(figures.survey.get(), since, observed, *observed.usage);
        add_layers(is_anew(observed, layers) ? std::span<const ContainerLayer>() : layers_of(layers, observed.pod->uid),
                   *observed.usage);
        observed.usage->disk_partial = observed.usage->disk_partial || are_layers_old;
    }
}

std::optional<bool> has_volumes(const DiskFigures& figures, const PodUid& pod) {
    if (!figures.survey || !is_listed(*figures.survey)) return std::nullopt;
    const auto* const row = find_pod(*figures.survey, pod);
    return row != nullptr && std::any_of(row->trees.begin(), row->trees.end(), is_volume);
}

std::optional<bool> has_disk_data(const DiskFigures& figures, const PodUid& pod) {
    if (!layers_of(figures.layers.get(), pod).empty()) return true;
    return has_volumes(figures, pod);
}

}  // namespace evictd::observe
