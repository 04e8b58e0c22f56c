// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The scenario's frame: text to a document, the document's parts to their readers, and a fault to its line.
#include "replay/scenario.hpp"

#include <algorithm>
#include <unordered_set>

#include "config/kubelet_settings.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/text.hpp"
#include "kube/document.hpp"
#include "kube/pod_json.hpp"
#include "replay/scenario_config.hpp"
#include "replay/scenario_objects.hpp"
#include "replay/scenario_runtime.hpp"
#include "replay/scenario_step.hpp"
#include "replay/value.hpp"

namespace evictd::replay {
namespace {

using Outcome = tl::expected<Scenario, config::Fault>;

config::Fault fault_at(const std::string& file, int line, std::string what, std::string remedy) {
    return {file, line, 0, {}, std::move(what), std::move(remedy)};
}

// The YAML reader knows JSON when it sees it, and reads it again as YAML where it is not quite JSON. What is big and
// looks like JSON was written by a program: twice the work would not make it right.
kube::Syntax syntax_of(std::string_view text) {
    constexpr std::size_t big = std::size_t{1} << 20U;
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool brace = first != std::string_view::npos && text[first] == '{';
    return brace && text.size() > big ? kube::Syntax::json : kube::Syntax::yaml;
}

tl::expected<kube::Document, config::Fault> parse_text(std::string_view text, const std::string& file) {
    if (text.size() > max_scenario_size) {
        const std::string limit = std::to_string(max_scenario_size >> 20U) + " MiB";
        return tl::unexpected(fault_at(file, 0, "larger than " + limit, "is this a scenario? Cut it into several"));
    }
    kube::Documents parsed = kube::parse_documents(text, syntax_of(text), kube::scenario_budget);
    if (!parsed.faults.empty()) {
        const Error& error = parsed.faults.front();
        return tl::unexpected(fault_at(file, std::stoi(error.what), error.why, error.remedy));
    }
    if (parsed.documents.empty()) {
        return tl::unexpected(fault_at(file, 0, "there is nothing in it", "a scenario has `pods` and `steps`"));
    }
    if (parsed.documents.size() > 1) {
        return tl::unexpected(fault_at(file, 0, "more than one YAML document", "keep one; remove `---`"));
    }
    return std::move(parsed.documents.front());
}

void read_version(const Value& version) {
    if (!version.present() || version.json() == 1) return;
    version.refuse("must be 1, but is " + version.shown(), "this evictd reads version 1 of the format");
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
    start.refuse("is no time from 1970 to 2150: \"" + excerpt(*text) + "\"", "write it as 2026-01-31T12:00:00Z");
    return usual;
}

void read_node(const Value& node, Scenario& scenario) {
    node.allow({"capacity", "dedicatedImageFs", "dedicatedContainerFs"});
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
    const Value capacity = node.at("capacity");
    std::vector<std::string_view> known;
    for (const auto& [name, signal] : names) {
        known.push_back(name);
        scenario.capacity[static_cast<std::size_t>(signal)] = capacity.at(name).amount();
    }
    capacity.allow(known);
    const bool images_apart = node.at("dedicatedImageFs").boolean().value_or(false);
    const bool containers_apart = node.at("dedicatedContainerFs").boolean().value_or(false);
    if (images_apart) {
        scenario.layout = containers_apart ? FsLayout::split : FsLayout::dedicated_image_fs;
    } else if (containers_apart) {
        // The kubelet has no such node: it ranks and reclaims as on one filesystem, and derives no thresholds.
        scenario.layout = FsLayout::unknown;
    }
}

void read_pods(const Value& pods, Scenario& scenario) {
    std::unordered_set<std::string> names;
    std::unordered_set<std::string> uids;
    pods.each_element([&](const Value& element) {
        auto pod = kube::pod_from_json(element.json(), {.source = scenario.file, .uid_required = false});
        if (!pod) {
            element.refuse_within(pod.error());
            return;
        }
        if (!names.insert(pod->full_name()).second) {
            element.at("metadata")
                .at("name")
                .refuse("the pod " + pod->full_name() + " is listed twice", "give each pod its own namespace and name");
        }
        if (!uids.insert(pod->uid.value).second) {
            element.at("metadata").at("uid").refuse("two pods have the uid " + pod->uid.value, "give each pod its own");
        }
        scenario.pods.push_back(std::make_shared<const Pod>(std::move(*pod)));
    });
}

void read_steps(const Value& steps, Scenario& scenario) {
    const PodNames names(scenario.pods);
    const ObjectsByUid objects = by_uid(scenario.objects);
    std::optional<Duration> before;
    scenario.steps.reserve(steps.present() ? steps.json().size() : 0);
    steps.each_element([&](const Value& element) {
        Step step = read_step(element, names);
        step.deletions = read_deletions(element.at("delete"), objects);
        if (before && step.at < *before) {
            element.at("at").refuse("goes back in time: the step before it is at " + to_string(*before),
                                    "sort the steps by their time");
        }
        before = step.at;
        scenario.steps.push_back(std::move(step));
    });
    scenario.only_asked.assign(scenario.pods.size(), false);
    for (const Step& step : scenario.steps) {
        for (const PodIndex pod : step.admit) scenario.only_asked[pod] = true;
    }
}

// Keys of a configuration at the top, and none of a scenario's.
bool is_a_configuration(const nlohmann::json& root) {
    if (!root.is_object() || root.contains("config") || root.contains("pods") || root.contains("steps")) return false;
    const auto settings = config::kubelet_settings();
    return root.contains("evictd") || root.value("kind", nlohmann::json()) == "KubeletConfiguration" ||
           std::any_of(settings.begin(), settings.end(),
                       [&](const config::KubeletSetting& setting) { return root.contains(setting.name); });
}

Scenario read_scenario(const Value& root, const std::string& file) {
    Scenario scenario;
    scenario.file = file;
    if (is_a_configuration(root.json())) {
        root.refuse("this is a configuration, not a scenario", "see evictd replay --help");
        return scenario;
    }
    root.allow({"version", "start", "config", "node", "pods", "steps", "runtime", "objects"});
    if (!root.json().is_object()) root.refuse("is no scenario", "a scenario is a map with `pods` and `steps`");
    read_version(root.at("version"));
    scenario.start = read_start(root.at("start"));
    const Value node = root.at("node");
    read_node(node, scenario);
    const Value pods = root.at("pods");
    read_pods(pods, scenario);
    const Value objects = root.at("objects");
    scenario.objects = read_objects(objects);
    const Value steps = root.at("steps");
    read_steps(steps, scenario);
    const Value runtime = root.at("runtime");
    scenario.runtime = read_runtime(runtime, scenario.start);
    return scenario;
}

}  // namespace

Outcome parse_scenario(std::string_view text, const std::string& file) {
    auto document = parse_text(text, file);
    if (!document) return tl::unexpected(std::move(document.error()));
    auto config = read_config(*document, file);
    if (!config) return tl::unexpected(std::move(config.error()));
    std::optional<Error> fault;
    const Value root(document->value, fault);
    Scenario scenario = read_scenario(root, file);
    scenario.config = std::move(*config);
    if (!fault) return scenario;
    return tl::unexpected(config::Fault{file, document->lines.of(fault->what), 0, excerpt(fault->what),
                                        std::move(fault->why), std::move(fault->remedy)});
}

}  // namespace evictd::replay
