// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A v1.Node as far as evictd changes it, and the patches that change it. Pure; who sends them is not known here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/node_status.hpp"
#include "evictd/model/units.hpp"

namespace evictd::codec {

struct NodeTaint {
    Taint taint;
    std::string json;  // as the server wrote it, with fields that are not known here
};

struct NodeCondition {
    std::string type;
    std::string status;  // "True", "False", "Unknown"
    std::string reason;
    std::string message;
    std::string last_transition_time;
};

struct NodeObject {
    std::string name;
    std::string uid;
    std::string resource_version;
    std::vector<NodeTaint> taints;          // all
    std::vector<NodeCondition> conditions;  // of evictd's own types
};

[[nodiscard]] bool is_own(std::string_view name);  // of a taint's key or a condition's type

// None: not a Node, or only the beginning of one.
[[nodiscard]] std::optional<NodeObject> read_node(std::string_view text);
// Of a NodeList, one page; `next_page`: the token for the next one, empty: there is none.
struct NodePage {
    std::vector<NodeObject> nodes;
    std::string next_page;
};
[[nodiscard]] std::optional<NodePage> read_nodes(std::string_view text);

// For PATCH nodes/NAME as a merge patch (RFC 7396), which replaces the list: those of others as they were, in their
// order, and `own` instead of evictd's. The server refuses it (409) if the node was changed since it was read.
inline constexpr const char* merge_patch = "application/merge-patch+json";
[[nodiscard]] std::string taints_patch(const NodeObject& node, const std::vector<Taint>& own);

// For PATCH nodes/NAME/status as a strategic merge patch, which merges conditions by their type. The server refuses it
// (409) if the node was changed since it was read: another evictd may have written the same condition.
inline constexpr const char* strategic_merge_patch = "application/strategic-merge-patch+json";
struct ConditionsChange {
    std::vector<NodeCondition> set;
    std::vector<std::string> remove;  // types
    [[nodiscard]] bool empty() const { return set.empty() && remove.empty(); }
};
[[nodiscard]] std::string conditions_patch(const NodeObject& node, const ConditionsChange& change, WallTime now);

// The condition as it is to be written, with the time of its last change of status. None: the node has it already.
[[nodiscard]] std::optional<NodeCondition> changed_condition(const NodeObject& node, const DesiredCondition& desired,
                                                             WallTime now);

// metav1.Time: whole seconds, UTC.
[[nodiscard]] std::string kube_time(WallTime time);
// The message of a v1.Status, which refusals have as their body; else the beginning of the text.
[[nodiscard]] std::string refusal_text(std::string_view body);

}  // namespace evictd::codec
