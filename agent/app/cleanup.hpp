// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd cleanup` does: evictd's conditions and taints are removed from nodes through the API server that is
// configured. Touches nothing of this host: that is undo's.
#pragma once

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "reconcile/node_cleanup.hpp"

namespace evictd::app {

// `options.node` may not be empty unless all nodes are meant. An error: there is no API server to ask, or as
// NodeCleanup::run().
[[nodiscard]] Status cleanup(const ClusterConfig& cluster, const reconcile::NodeCleanupOptions& options,
                             const reconcile::NodeCleanup::OnNode& on_node);

}  // namespace evictd::app
