// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The sockets' part of the status document: figures by pod and of the node, and who gets no new ones.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "status_json.hpp"
#include "text_table.hpp"

namespace evictd::codec {

// "sockets" for the node, and for each pod of the ranking that ever had one.
void add_sockets(const StatusInput& input, nlohmann::ordered_json& document);

// Of one pod of the document: how many are open, and what they take. "-" where that is not known.
[[nodiscard]] std::vector<Cell> socket_cells(const nlohmann::ordered_json& pod);

}  // namespace evictd::codec
