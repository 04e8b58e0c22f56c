// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/cleanup.hpp"

#include "kube/api_access.hpp"
#include "kube/api_session.hpp"

namespace evictd::app {

Status cleanup(const ClusterConfig& cluster, const reconcile::NodeCleanupOptions& options,
               const reconcile::NodeCleanup::OnNode& on_node) {
    auto load = kube::find_access(cluster);
    if (!load) {
        return fail(ErrorKind::invalid, "cleanup", "no API server is configured",
                    "--kubeconfig FILE, or run it in a pod");
    }
    // Here, and not with each request: a file that cannot be read does not become readable while we wait.
    if (const auto access = (*load)(); !access) {
        return tl::unexpected(access.error());
    }
    auto session = kube::ApiSession::make(std::move(*load));
    if (!session) {
        return tl::unexpected(session.error());
    }
    return reconcile::NodeCleanup((*session)->api(), options).run(on_node);
}

}  // namespace evictd::app
