// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/pod_sources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include <unistd.h>

#include "kube/api_access.hpp"
#include "kube/cluster_pods.hpp"
#include "kube/kubelet_config.hpp"
#include "kube/manifest_source.hpp"

namespace evictd::app {
namespace {

// For the kubelet's configuration; also what it may hold up a start.
constexpr Duration patience_with_the_kubelet = std::chrono::seconds(3);

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

// None: no kubelet is configured.
std::optional<kube::KubeletAddress> kubelet_of(const ClusterConfig& cluster, const std::string& node) {
    if (cluster.kubelet_url.empty()) return std::nullopt;
    return kube::KubeletAddress{.url = cluster.kubelet_url,
                                .ca_file = cluster.kubelet_ca_file,
                                .name = node,
                                .pods_socket = cluster.kubelet_pods_socket};
}

std::shared_ptr<kube::ClusterPods> cluster_source(const ClusterConfig& cluster, const std::string& node,
                                                  kube::AccessSource::Load access) {
    auto kubelet = kubelet_of(cluster, node);
    auto name = cluster.kubeconfig.empty() ? "at " + kube::pod_environment().host : "of " + cluster.kubeconfig;
    return std::make_shared<kube::ClusterPods>(std::move(name), std::move(access), node, std::move(kubelet),
                                               kube::ApiPodsTimes{}, kube::ApiNodeTimes{});
}

}  // namespace

Servers make_pod_sources(const Config& config, const std::string& node) {
    Servers made;
    auto& sources = made.pods;
    if (!config.static_pod_path.empty()) {
        sources.push_back(std::make_shared<kube::ManifestSource>(config.static_pod_path, PodOrigin::static_file));
    }
    if (!config.agent.pod_manifest_path.empty()) {
        sources.push_back(std::make_shared<kube::ManifestSource>(config.agent.pod_manifest_path));
    }
    const auto& cluster = config.agent.cluster;
    if (auto access = kube::find_access(cluster)) {
        auto source = cluster_source(cluster, node, std::move(*access));
        made.api = source->api();
        sources.push_back(std::move(source));
    }
    return made;
}

std::function<Result<std::string>()> kubelet_config_of(const Config& config, const std::string& node) {
    auto access = kube::find_access(config.agent.cluster);
    auto kubelet = kubelet_of(config.agent.cluster, node);
    if (!access || !kubelet) return {};
    auto source = std::make_shared<kube::AccessSource>(std::move(*access));
    return [source, address = std::move(*kubelet)] {
        auto text = kube::fetch_kubelet_config(address, *source, patience_with_the_kubelet);
        if (!text) source->forget();
        return text;
    };
}

std::function<std::vector<PodSourceState>()> states_of(const PodSources& sources) {
    return [weak = std::vector<std::weak_ptr<port::PodSource>>(sources.begin(), sources.end())] {
        std::vector<PodSourceState> all;
        for (const auto& source : weak) {
            const auto held = source.lock();
            if (!held) continue;
            auto states = held->states();
            std::move(states.begin(), states.end(), std::back_inserter(all));
        }
        return all;
    };
}

std::string node_name(const Config& config) {
    if (!config.agent.node_name.empty()) return config.agent.node_name;
    const char* given = std::getenv("NODE_NAME");  // NOLINT(concurrency-mt-unsafe): before there are threads
    std::string name = given != nullptr && *given != '\0' ? std::string(given) : host_name();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

}  // namespace evictd::app
