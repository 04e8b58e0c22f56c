// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where this agent gets its pods from: manifests on disk, and the cluster's servers where there are any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/port/api_server.hpp"
#include "evictd/port/pod_source.hpp"

namespace evictd::app {

using PodSources = std::vector<std::shared_ptr<port::PodSource>>;

struct Servers {
    PodSources pods;                       // not started; earlier ones take precedence
    std::shared_ptr<port::ApiServer> api;  // null: no API server is configured. Sends once its source is started
};

// What they need and is not there yet they wait for.
[[nodiscard]] Servers make_pod_sources(const Config& config, const std::string& node);

// GET /configz of this node's kubelet, which waits for the network. Null: no kubelet is configured.
[[nodiscard]] std::function<Result<std::string>()> kubelet_config_of(const Config& config, const std::string& node);

// The states of the servers behind them, whenever it is called and from any thread, also after they are gone.
[[nodiscard]] std::function<std::vector<PodSourceState>()> states_of(const PodSources& sources);

// The node's name in the cluster: as configured, else as the pod's environment says (NODE_NAME), else the host name, in
// the kubelet's spelling (nodeutil.GetHostname).
[[nodiscard]] std::string node_name(const Config& config);

}  // namespace evictd::app
