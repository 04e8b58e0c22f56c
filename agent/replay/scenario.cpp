// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The scenario's frame: text to a document, and the document's parts to their readers.
#include "replay/scenario.hpp"

#include <algorithm>
#include <unordered_set>

#include "config/kubelet_settings.hpp"
#include "config/load.hpp"
#include "evictd/model/text.hpp"
#include "kube/pod_object.hpp"
#include "replay/scenario_keys.hpp"
#include "replay/scenario_objects.hpp"
#include "replay/scenario_runtime.hpp"
#include "replay/scenario_step.hpp"

namespace evictd::replay {
namespace {

void read_version(const Value& version) {
    if (!version.present() || version.integer() == 1) return;
    version.refuse("invalid value " + in_quotes(version.scalar().value_or("")),
                   "expected 1, the version of the format");
}

WallTime read_start(const Value& start) {
    using namespace std::chrono;
    constexpr WallTime usual = sys_days(year(2026) / January / 1);
    const auto text = start.text();
    if (!text) return usual;
    const auto time = parse_rfc3339(*text);
    // 200 years to either side leave room for the steps, which may take a hundred.
    constexpr WallTime latest = sys_days(year(2150) / January / 1);
    if (time && *time >= WallTime{} && *time <= latest) return *time;
    start.refuse("invalid time " + in_quotes(*text),
                 "expected RFC 3339 from 1970 to 2150, such as 2026-01-31T12:00:00Z");
    return usual;
}

void read_node(const Value& node, Scenario& scenario) {
    node.allow(node_keys, where_key_belongs);
    constexpr std::array<std::pair<std::string_view, Signal>, signal_count> names{{
        {"memory", Signal::memory_available},
        {"allocatableMemory", Signal::allocatable_memory_available},
        {"nodefs", Signal::nodefs_available},
        {"nodefsInodes", Signal::nodefs_inodes_free},
        {"imagefs", Signal::imagefs_available},
        {"imagefsInodes", Signal::imagefs_inodes_free},
        {"containerfs", Signal::containerfs_available},
        {"containerfsInodes", Signal::containerfs_inodes_free},
        {"pids", Signal::pid_available},
        {"allocatableNodeFs", Signal::allocatable_nodefs_available},
    }};
    const Value capacity = node["capacity"];
    std::vector<std::string_view> known;
    for (const auto& [name, signal] : names) {
        known.push_back(name);
        scenario.capacity[static_cast<std::size_t>(signal)] = capacity[name].amount();
    }
    capacity.allow(known);
    const bool images_apart = node["dedicatedImageFs"].boolean().value_or(false);
    const bool containers_apart = node["dedicatedContainerFs"].boolean().value_or(false);
    if (images_apart) {
        scenario.layout = containers_apart ? FsLayout::split : FsLayout::dedicated_image_fs;
    } else if (containers_apart) {
        // The kubelet has no such node: it ranks and reclaims as on one filesystem, and derives no thresholds.
        scenario.layout = FsLayout::unknown;
    }
}

void note_refused(const Value& element, RefusedPods& refused) {
    const Value metadata = element.is_map() ? element["metadata"] : element;
    const auto name = metadata.is_map() ? metadata["name"].text() : std::nullopt;
    if (!name) {
        refused.any_unnamed = true;
        return;
    }
    const std::string name_space = metadata["namespace"].text().value_or("");
    refused.names.insert((name_space.empty() ? "default" : name_space) + "/" + *name);
}

void read_pods(const Value& pods, Scenario& scenario) {
    std::unordered_set<std::string> names;
    std::unordered_set<std::string> uids;
    const std::size_t before = pods.reading().refusals();
    const std::vector<Value> elements = pods.elements();
    scenario.refused.any_unnamed = pods.reading().refusals() > before;  // it is no list
    for (const Value& element : elements) {
        auto pod =
            kube::read_pod(element, {.source = scenario.file, .uid_required = false, .status_from_kubelet = true});
        if (!pod) {
            note_refused(element, scenario.refused);
            continue;
        }
        const Value metadata = element["metadata"];
        // A pod without a uid is called by its name: it is not at fault twice.
        if (!names.insert(pod->full_name()).second) {
            metadata["name"].refuse("the pod " + pod->full_name() + " is listed twice",
                                    "give each pod its own namespace and name");
        } else if (!uids.insert(pod->uid.value).second) {
            metadata["uid"].refuse("two pods have the uid " + pod->uid.value, "give each pod its own");
        }
        scenario.pods.push_back(make_pod(std::move(*pod)));
    }
}

void read_steps(const Value& steps, Scenario& scenario) {
    const PodNames names(scenario);
    const ObjectsByUid objects = by_uid(scenario.objects);
    std::optional<Duration> before;
    const std::vector<Value> elements = steps.elements();
    scenario.steps.reserve(elements.size());
    for (const Value& element : elements) {
        Step step = read_step(element, names);
        step.deletions = read_deletions(element["delete"], objects);
        if (before && step.at < *before) {
            element["at"].refuse("goes back in time: the step before it is at " + to_string(*before),
                                 "sort the steps by their time");
        }
        before = step.at;
        scenario.steps.push_back(std::move(step));
    }
    scenario.only_asked.assign(scenario.pods.size(), false);
    for (const Step& step : scenario.steps) {
        for (const PodIndex pod : step.admit) scenario.only_asked[pod] = true;
    }
}

// Keys of a configuration at the top, and none of a scenario's.
bool is_a_configuration(const Value& root) {
    const auto has = [&](std::string_view name) { return root[name].present(); };
    if (!root.is_map() || has("config") || has("pods") || has("steps")) return false;
    const auto settings = config::kubelet_settings();
    return has("evictd") || (has("kind") && root["kind"].scalar() == "KubeletConfiguration") ||
           std::any_of(settings.begin(), settings.end(),
                       [&](const config::KubeletSetting& setting) { return has(setting.name); });
}

Scenario read_scenario(const Value& root, const std::string& file) {
    Scenario scenario;
    scenario.file = file;
    if (!root.present()) root.refuse("there is nothing in it", "a scenario has `pods` and `steps`");
    const Value kind = root["kind"];
    const auto word = kind.present() ? kind.scalar() : std::nullopt;
    if (word && *word != "KubeletConfiguration") {
        kind.refuse("this is no scenario, but a " + excerpt(*word), "a scenario has `pods` and `steps`");
        return scenario;
    }
    if (is_a_configuration(root)) {
        root.refuse("this is a configuration, not a scenario", "see evictd replay --help");
        return scenario;
    }
    root.allow(scenario_keys, where_key_belongs);
    read_version(root["version"]);
    scenario.start = read_start(root["start"]);
    scenario.config = config::load(root["config"]);
    scenario.config.file = file;
    read_node(root["node"], scenario);
    read_pods(root["pods"], scenario);
    scenario.objects = read_objects(root["objects"]);
    read_steps(root["steps"], scenario);
    scenario.runtime = read_runtime(root["runtime"], scenario.start);
    scenario.has_runtime = root["runtime"].present();
    return scenario;
}

}  // namespace

tl::expected<Scenario, document::Faults> parse_scenario(std::string_view text, const std::string& file) {
    document::Document document = document::parse_one(text, file, document::scenario_limits);
    const bool is_sound = document.faults.empty();
    document::Reading reading(std::move(document), file);
    if (is_sound) {
        Scenario scenario = read_scenario(reading.root(), file);
        if (reading.refusals() == 0) return scenario;
    }
    return tl::unexpected(reading.take_faults());
}

}  // namespace evictd::replay
