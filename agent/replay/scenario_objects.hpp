// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The scenario's objects and who owns them, and which of them a step would delete. What follows is not known here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "replay/scenario.hpp"

namespace evictd::replay {

[[nodiscard]] std::vector<policy::OwnedObject> read_objects(const Value& objects);

// The scenario's objects by uid. They outlive this.
using ObjectsByUid = std::unordered_map<std::string_view, const policy::OwnedObject*>;
[[nodiscard]] ObjectsByUid by_uid(const std::vector<policy::OwnedObject>& objects);

// Nothing if the step does not ask; an empty list asks what would be collected anyway.
[[nodiscard]] std::optional<std::vector<DeleteRequest>> read_deletions(const Value& list, const ObjectsByUid& objects);

}  // namespace evictd::replay
