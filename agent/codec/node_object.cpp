// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "node_object.hpp"

#include <algorithm>
#include <utility>

#include "evictd/model/text.hpp"
#include "json_value.hpp"

namespace evictd::codec {
namespace {

using Json = nlohmann::ordered_json;

// A node lists its images and who manages which field: most of its text, and none of it is kept.
bool is_needed(int depth, const std::string& key, int depth_of_node) {
    if (depth == depth_of_node + 1) return key != "managedFields" && key != "images";
    if (depth == depth_of_node + 2) {
        return key != "managedFields" && key != "images" && key != "annotations" && key != "labels";
    }
    return true;
}

Json parse(std::string_view text, int depth_of_node) {
    return parsed_shallow(text,
                          [&](int depth, const std::string& key) { return is_needed(depth, key, depth_of_node); });
}

std::string text_of(const Json& object, const char* part, const char* key) {
    const Json* found = object_at(object, part);
    return found == nullptr ? std::string{} : text_at(*found, key);
}

std::optional<NodeObject> node_of(const Json& json) {
    NodeObject node{.name = text_of(json, "metadata", "name"),
                    .uid = text_of(json, "metadata", "uid"),
                    .resource_version = text_of(json, "metadata", "resourceVersion"),
                    .taints = {},
                    .conditions = {}};
    if (node.name.empty() || node.resource_version.empty()) return std::nullopt;
    if (const Json* spec = object_at(json, "spec")) {
        for (const auto& taint : list_at(*spec, "taints")) {
            if (!taint.is_object()) return std::nullopt;
            node.taints.push_back(
                {{text_at(taint, "key"), text_at(taint, "value"), text_at(taint, "effect")}, dump_line(taint)});
        }
    }
    if (const Json* status = object_at(json, "status")) {
        for (const auto& one : list_at(*status, "conditions")) {
            if (!one.is_object() || !is_own(text_at(one, "type"))) continue;
            node.conditions.push_back({text_at(one, "type"), text_at(one, "status"), text_at(one, "reason"),
                                       text_at(one, "message"), text_at(one, "lastTransitionTime")});
        }
    }
    return node;
}

// Preconditions of a patch.
Json as_it_was_read(const NodeObject& node) { return {{"uid", node.uid}, {"resourceVersion", node.resource_version}}; }

Json taint_json(const Taint& taint) {
    Json json{{"key", taint.key}};
    if (!taint.value.empty()) json["value"] = taint.value;
    json["effect"] = taint.effect;
    return json;
}

}  // namespace

bool is_own(std::string_view name) { return name.starts_with(own_prefix); }

std::optional<NodeObject> read_node(std::string_view text) {
    const Json json = parse(text, 0);
    return json.is_object() ? node_of(json) : std::nullopt;
}

std::optional<NodePage> read_nodes(std::string_view text) {
    const Json json = parse(text, 2);
    const auto items = json.is_object() ? json.find("items") : json.end();
    if (!json.is_object() || items == json.end() || !items->is_array()) return std::nullopt;
    NodePage page{.nodes = {}, .next_page = text_of(json, "metadata", "continue")};
    for (const auto& item : *items) {
        auto node = item.is_object() ? node_of(item) : std::nullopt;
        if (!node) return std::nullopt;
        page.nodes.push_back(std::move(*node));
    }
    return page;
}

std::string taints_patch(const NodeObject& node, const std::vector<Taint>& own) {
    Json list = Json::array();
    for (const auto& one : node.taints) {
        if (!is_own(one.taint.key)) list.push_back(Json::parse(one.json));
    }
    for (const auto& taint : own) list.push_back(taint_json(taint));
    return dump_line({{"metadata", as_it_was_read(node)}, {"spec", {{"taints", std::move(list)}}}});
}

std::string conditions_patch(const NodeObject& node, const ConditionsChange& change, WallTime now) {
    Json list = Json::array();
    for (const auto& one : change.set) {
        list.push_back({{"type", one.type},
                        {"status", one.status},
                        {"lastHeartbeatTime", kube_time(now)},
                        {"lastTransitionTime", one.last_transition_time},
                        {"reason", one.reason},
                        {"message", one.message}});
    }
    for (const auto& type : change.remove) list.push_back({{"$patch", "delete"}, {"type", type}});
    return dump_line({{"metadata", as_it_was_read(node)}, {"status", {{"conditions", std::move(list)}}}});
}

std::optional<NodeCondition> changed_condition(const NodeObject& node, const DesiredCondition& desired, WallTime now) {
    const std::string status = desired.status ? "True" : "False";
    const auto current = std::find_if(node.conditions.begin(), node.conditions.end(),
                                      [&](const NodeCondition& one) { return one.type == desired.type; });
    const bool is_there = current != node.conditions.end();
    const bool has_status = is_there && current->status == status;
    if (has_status && current->reason == desired.reason && current->message == desired.message) return std::nullopt;
    const bool keeps_time = has_status && !current->last_transition_time.empty();
    return NodeCondition{desired.type, status, desired.reason, desired.message,
                         keeps_time ? current->last_transition_time : kube_time(now)};
}

std::string kube_time(WallTime time) {
    auto text = rfc3339(std::chrono::floor<std::chrono::seconds>(time));
    const auto dot = text.find('.');
    return dot == std::string::npos ? text : text.substr(0, dot) + "Z";
}

std::string refusal_text(std::string_view body) {
    constexpr std::size_t longest = 300;
    const Json json = parsed_shallow(body);
    auto text = json.is_object() ? text_at(json, "message") : std::string{};
    return printable((text.empty() ? std::string(body) : text).substr(0, longest));
}

}  // namespace evictd::codec
