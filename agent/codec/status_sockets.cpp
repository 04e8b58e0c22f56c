// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "status_sockets.hpp"

#include <string>
#include <unordered_map>

#include "evictd/model/text.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

Json pod_json(const PodSockets& pod) {
    return {{"open", pod.open}, {"refused", pod.refused}, {"memory_bytes", pod.memory.value}};
}

void add_to_pods(const std::vector<PodSockets>& pods, Json& document) {
    const auto ranking = document.find("ranking");
    if (ranking == document.end()) return;
    std::unordered_map<std::uint64_t, const PodSockets*> by_cgroup;
    for (const auto& pod : pods) by_cgroup.emplace(pod.pod.value, &pod);
    for (auto& row : (*ranking)["pods"]) {
        const auto cgroup = row.find("cgroup_id");
        const auto known = cgroup == row.end() ? by_cgroup.end() : by_cgroup.find(cgroup->get<std::uint64_t>());
        if (known != by_cgroup.end()) row["sockets"] = pod_json(*known->second);
    }
}

}  // namespace

void add_sockets(const StatusInput& input, Json& document) {
    Json node = Json::object();
    if (const auto& tcp = input.sockets.tcp) {
        node["tcp"] = {{"memory_bytes", tcp->used.value},
                       {"pressure_bytes", tcp->pressure.value},
                       {"limit_bytes", tcp->limit.value}};
    }
    if (input.tick != nullptr && !input.tick->dry_run && !input.tick->decision.shed.empty()) {
        for (const auto& shed : input.tick->decision.shed) node["shed"].push_back(shed.pod_name);
    }
    add_to_pods(input.sockets.pods, document);
    if (!node.empty()) document["sockets"] = std::move(node);
}

std::vector<Cell> socket_cells(const Json& pod) {
    const Json* sockets = object_at(pod, "sockets");
    const auto open = sockets != nullptr ? number_at(*sockets, "open") : std::nullopt;
    const auto memory = sockets != nullptr ? number_at(*sockets, "memory_bytes") : std::nullopt;
    return {{open ? std::to_string(*open) : "-", Tone::plain, std::nullopt},
            {memory ? bytes_text(*memory) : "-", Tone::plain, std::nullopt}};
}

}  // namespace evictd::codec
