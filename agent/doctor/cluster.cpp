// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What pods from the cluster need: credentials, libcurl, the kubelet's certificate. No server is asked.
#include "doctor/doctor.hpp"
#include "http/client.hpp"
#include "http/trusted_socket.hpp"
#include "kube/api_access.hpp"
#include "kube/kubelet_watch.hpp"

namespace evictd::doctor {

using codec::Finding;
using codec::FindingState;

namespace {

Finding missing(std::string check, const Error& error) {
    return {.check = std::move(check),
            .state = FindingState::missing,
            .chosen = {},
            .detail = error.what + ": " + error.why + "; no pods are known from it until then",
            .remedy = error.remedy};
}

}  // namespace

void examine_cluster(const Config& config, HostFacts& facts, std::vector<Finding>& checks) {
    const auto& cluster = config.agent.cluster;
    const auto load = kube::find_access(cluster);
    if (!load) return;
    const auto access = (*load)();
    if (!access) {
        checks.push_back(missing("API server", access.error()));
    } else if (auto usable = http::is_client_usable(); !usable) {
        checks.push_back(missing("API server", usable.error()));
    } else {
        facts.has_pod_source = true;
        checks.push_back({.check = "API server", .chosen = access->server.url, .detail = access->from, .remedy = {}});
    }
    if (cluster.kubelet_url.empty()) return;
    if (auto certificate = kube::read_trusted_file(cluster.kubelet_ca_file); !certificate) {
        checks.push_back(missing("kubelet", certificate.error()));
    } else {
        checks.push_back({.check = "kubelet", .chosen = cluster.kubelet_url, .detail = {}, .remedy = {}});
    }
    if (cluster.kubelet_pods_socket.empty()) return;
    if (const auto there = http::has_trusted_socket(cluster.kubelet_pods_socket); !there) {
        checks.push_back(missing("kubelet's Pods API", there.error()));
    } else if (*there) {
        checks.push_back(
            {.check = "kubelet's Pods API", .chosen = cluster.kubelet_pods_socket, .detail = {}, .remedy = {}});
    }
}

}  // namespace evictd::doctor
