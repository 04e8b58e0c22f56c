// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the API server is to show of this node, as part of a Decision: conditions and taints of evictd's own. The
// kubelet's condition types (MemoryPressure and the like) are never among them: it rewrites those itself.
#pragma once

#include <string>
#include <vector>

#include "evictd/model/units.hpp"

namespace evictd {

// v1.Taint.
struct Taint {
    std::string key;
    std::string value;
    std::string effect;
    friend bool operator==(const Taint&, const Taint&) = default;
};

// v1.NodeCondition, without its times: they are the reconciler's, because they are wall clock.
struct DesiredCondition {
    std::string type;  // "evictd.io/MemoryPressure"
    bool status = false;
    std::string reason;
    std::string message;
    friend bool operator==(const DesiredCondition&, const DesiredCondition&) = default;
};

struct DesiredNodeStatus {
    std::vector<DesiredCondition> conditions;  // all of evictd's types, those that are False too
    std::vector<Taint> taints;                 // those not listed whose key begins with "evictd.io/" are removed
    friend bool operator==(const DesiredNodeStatus&, const DesiredNodeStatus&) = default;
};

inline constexpr const char* own_prefix = "evictd.io/";

}  // namespace evictd
