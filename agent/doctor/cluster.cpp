// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What pods from the cluster need: credentials, libcurl, the kubelet's certificate. No server is asked.
#include "doctor/doctor.hpp"
#include "kube/api_access.hpp"
#include "kube/http.hpp"

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
    } else if (auto usable = kube::is_client_usable(); !usable) {
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
}

}  // namespace evictd::doctor
