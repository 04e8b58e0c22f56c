// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An agent with fake disks: the test sets what filesystems and pods have, and records what the agent asks for.
#pragma once

#include <gmock/gmock.h>

#include "agent_fixture.hpp"

namespace evictd::app {

using namespace std::chrono_literals;

struct AgentDisks : Agents {
    void begin() {
        eviction.thresholds.push_back(
            {.signal = Signal::nodefs_available, .value = {Quantity::of((10_GiB).value)}, .min_reclaim = {}});
        eviction.thresholds.push_back(
            {.signal = Signal::imagefs_available, .value = {Quantity::of((10_GiB).value)}, .min_reclaim = {}});
        disks = {.filesystems = [this] { return view; },
                 .figures = [this] { return figures; },
                 .set_filesystem_pace = [this](Duration pace) { return take(paces, pace); },
                 .set_layers_pace = [this](Duration pace) { return take(layer_paces, pace); },
                 .refresh = [this](const auto& pods) { refreshed.push_back(pods.size()); },
                 .want_garbage = [this](const DesiredGarbage& desired) { wanted.push_back(desired); },
                 .has_runtime = [this] { return has_runtime; }};
        declare(100_MiB);
        if (!left.empty()) {
            tree.declare({{.id = root_id, .level = 1, .usage = 201_MiB, .limit = 1_GiB},
                          {.id = hog_id, .level = 2, .usage = 100_MiB, .processes = 1, .pod = "hog"},
                          {.id = 77, .level = 2, .usage = 1_MiB, .processes = 0, .pod = left}});
        }
        free(500_GiB);
        make();
    }
    void free(Bytes available) {
        clock.advance(1ms);
        view.layout = FsLayout::single;
        for (const std::size_t which : {0U, 1U}) {
            view.of.at(which).reading = FilesystemReading{.id = {0, 1},
                                                          .available = available,
                                                          .capacity = 1000_GiB,
                                                          .inodes_free = {},
                                                          .inodes = {},
                                                          .at = clock.monotonic()};
        }
    }
    std::string left{};  // of which an empty cgroup is there, and no source knows it
    [[nodiscard]] static SurveyPtr survey_of(const std::string& uid, Bytes used) {
        Survey survey;
        survey.listed = MonotonicTime{1h};
        survey.pods = {{{uid}, {{.kind = TreeKind::empty_dir, .name = "data", .usage = TreeUsage{.used = used}}}}};
        return std::make_shared<const Survey>(std::move(survey));
    }
    void limit_storage_of_hog() {
        Pod hog = *pod("hog");
        hog.containers = {{.name = "main"}};
        hog.containers.front().limits.ephemeral_storage = Quantity::of((100_GiB).value);
        set_pods({.pods = {pod("quiet"), make_pod(std::move(hog))}, .rejected = {}});
    }
    [[nodiscard]] const std::optional<Reading>& reading(Signal signal) const {
        return last().observation.readings[static_cast<std::size_t>(signal)];
    }

    [[nodiscard]] const PodUsage& usage_of_hog() const {
        const auto& pods = last().observation.pods;
        return *std::find_if(pods.begin(), pods.end(), [](const auto& one) { return one.pod->name == "hog"; })->usage;
    }
    void see_layer_of_hog(MonotonicTime at) {
        figures.layers = std::make_shared<const observe::ContainerLayers>(observe::ContainerLayers{
            .of = {{.pod = {"hog"}, .name = "main", .usage = RuntimeUsage{.used = 5_GiB}}}, .at = at});
        agent->note_inventory(nullptr);
    }

    [[nodiscard]] bool take(std::vector<Duration>& taken, Duration pace) const {
        if (is_there) taken.push_back(pace);
        return is_there;
    }

    bool is_there = true;
    bool has_runtime = false;
    FilesystemsView view;
    observe::DiskFigures figures;
    std::vector<Duration> paces;
    std::vector<Duration> layer_paces;
    std::vector<std::size_t> refreshed;
    std::vector<DesiredGarbage> wanted;
};

}  // namespace evictd::app
