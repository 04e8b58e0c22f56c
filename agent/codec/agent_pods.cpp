// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "agent_pods.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "evictd/model/names.hpp"
#include "json_value.hpp"
#include "tape_names.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

// `unsaid`: its phase, where that is not said.
void add(const Json& row, PodPhase unsaid, std::vector<AgentPod>& pods) {
    if (!row.is_object()) return;
    AgentPod one;
    one.pod.uid.value = text_at(row, "uid");
    one.pod.name = text_at(row, "name");
    one.pod.name_space = text_at(row, "namespace");
    if (one.pod.uid.value.empty()) return;
    one.pod.phase = from_name<PodPhase>(text_at(row, "phase")).value_or(unsaid);
    one.pod.status_reason = text_at(row, "reason");
    if (flag_at(row, "deleted")) one.pod.deletion_time = WallTime{};
    const auto populated = row.find("populated");
    one.populated = populated == row.end() || !populated->is_boolean() || populated->get<bool>();
    for (const auto& container : list_at(row, "not_started")) {
        if (!container.is_object()) continue;
        auto& added = one.pod.containers.emplace_back();
        added.name = text_at(container, "name");
        added.image = text_at(container, "image");
    }
    pods.push_back(std::move(one));
}

}  // namespace

std::optional<std::vector<AgentPod>> agent_pods(std::string_view status_json) {
    const Json json = parsed_shallow(status_json);
    if (!json.is_object()) return std::nullopt;
    const Json* ranking = object_at(json, "ranking");
    if (ranking == nullptr) return std::nullopt;
    std::vector<AgentPod> pods;
    for (const auto& row : list_at(*ranking, "pods")) add(row, PodPhase::running, pods);
    for (const auto& row : list_at(json, "finished_pods")) add(row, PodPhase::unknown, pods);
    return pods;
}

}  // namespace evictd::codec
