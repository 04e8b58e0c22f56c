// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd.apiServer, evictd.kubeconfig and evictd.kubelet: where pods come from on a Kubernetes node, and what the API
// server is told of them.
#pragma once

#include <string>

#include "document/value.hpp"
#include "evictd/model/config.hpp"

namespace evictd::config {

void read_api_server(const document::Value& setting, Config& config);
void read_kubeconfig(const document::Value& setting, Config& config);
void read_kubelet_url(const document::Value& setting, Config& config);
void read_kubelet_ca_file(const document::Value& setting, Config& config);
void read_kubelet_pods_socket(const document::Value& setting, Config& config);
void read_kubelet_root(const document::Value& setting, Config& config);
[[nodiscard]] std::string show_kubelet_root(const Config& config);
void read_kubelet_config(const document::Value& setting, Config& config);
[[nodiscard]] std::string show_kubelet_config(const Config& config);
void read_pod_status(const document::Value& setting, Config& config);
void read_soft_eviction_api(const document::Value& setting, Config& config);
[[nodiscard]] std::string show_api_server(const Config& config);
[[nodiscard]] std::string show_kubeconfig(const Config& config);
[[nodiscard]] std::string show_kubelet_url(const Config& config);
[[nodiscard]] std::string show_kubelet_ca_file(const Config& config);
[[nodiscard]] std::string show_kubelet_pods_socket(const Config& config);
[[nodiscard]] std::string show_pod_status(const Config& config);
[[nodiscard]] std::string show_soft_eviction_api(const Config& config);

}  // namespace evictd::config
