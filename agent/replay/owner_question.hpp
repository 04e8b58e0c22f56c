// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What would follow if some of the scenario's objects were deleted: the owner graph, carried out in a copy of them that
// is thrown away. Nothing that is done by a step's eviction is known here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "policy/owners.hpp"
#include "replay/scenario.hpp"

namespace evictd::replay {

struct OwnerAnswer {
    std::vector<policy::GraphAction> actions;  // in their order; each is carried out before the next is asked for
    std::string error;                         // empty: the graph came to rest
};

// More actions than a graph of these objects can need: an object is unblocked and removed once, a reference looked up
// and dropped once. Twice that; half would still be enough, and beyond it something goes round in circles.
[[nodiscard]] std::size_t most_actions(const std::vector<policy::OwnedObject>& objects);

// All of `deletions` are asked for at the same time, of objects that are all there are: what is not listed is absent.
[[nodiscard]] OwnerAnswer ask_owner_graph(const std::vector<policy::OwnedObject>& objects,
                                          const std::vector<DeleteRequest>& deletions, std::size_t most);

[[nodiscard]] std::string_view verb_name(policy::GraphVerb verb);
[[nodiscard]] std::string text_of(const policy::ObjectId& id);  // kind/uid

}  // namespace evictd::replay
