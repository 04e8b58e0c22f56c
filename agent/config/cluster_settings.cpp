// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "config/cluster_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "evictd/model/text.hpp"

namespace evictd::config {
namespace {

using document::Value;

void read_file_path(const Value& setting, std::string& path) {
    const auto text = setting.scalar();
    if (!text) return;
    if (!text->empty() && (!text->starts_with('/') || text->find('\0') != std::string::npos)) {
        setting.refuse("invalid path " + in_quotes(*text), "expected a path that starts with /");
    }
    path = *text;
}

// Nothing else: a path would be lost, and a password would be shown.
bool is_https_address(std::string_view url) {
    constexpr std::string_view scheme = "https://";
    if (!url.starts_with(scheme)) return false;
    url.remove_prefix(scheme.size());
    const auto colon = url.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto port = url.substr(colon + 1);
    unsigned number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65535) return false;
    auto host = url.substr(0, colon);
    const bool is_v6 = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
    if (is_v6) host = host.substr(1, host.size() - 2);
    return std::all_of(host.begin(), host.end(), [&](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return is_letter || (c >= '0' && c <= '9') || c == '.' || c == (is_v6 ? ':' : '-');
    });
}

}  // namespace

void read_api_server(const Value& setting, Config& config) {
    constexpr std::array<std::pair<std::string_view, ApiServerUse>, 2> words{
        {{"auto", ApiServerUse::automatic}, {"off", ApiServerUse::off}}};
    auto& use = config.agent.cluster.api_server;
    use = setting.one_of(words).value_or(use);
}

void read_kubeconfig(const Value& setting, Config& config) { read_file_path(setting, config.agent.cluster.kubeconfig); }

void read_kubelet_url(const Value& setting, Config& config) {
    const auto url = setting.scalar();
    if (!url) return;
    if (!url->empty() && !is_https_address(*url)) {
        setting.refuse("not an https address", "expected https://HOST:PORT, such as https://127.0.0.1:10250");
        return;
    }
    config.agent.cluster.kubelet_url = *url;
}

void read_kubelet_ca_file(const Value& setting, Config& config) {
    read_file_path(setting, config.agent.cluster.kubelet_ca_file);
}

void read_kubelet_pods_socket(const Value& setting, Config& config) {
    auto& path = config.agent.cluster.kubelet_pods_socket;
    read_file_path(setting, path);
    constexpr std::size_t longest = 107;  // as of sockaddr_un.sun_path
    if (path.size() > longest) setting.refuse("longer than 107 bytes", "sockets have no longer paths");
}

void read_kubelet_root(const Value& setting, Config& config) {
    auto& path = config.agent.cluster.kubelet_root;
    read_file_path(setting, path);
    if (path.size() <= 1) setting.refuse("not the kubelet's root directory", "such as /var/lib/kubelet");
}

void read_pod_status(const Value& setting, Config& config) {
    auto& flag = config.agent.cluster.pod_status;
    flag = setting.boolean().value_or(flag);
}

void read_soft_eviction_api(const Value& setting, Config& config) {
    auto& flag = config.agent.cluster.soft_eviction_api;
    flag = setting.boolean().value_or(flag);
}

void read_kubelet_config(const Value& setting, Config& config) {
    constexpr std::array<std::pair<std::string_view, KubeletConfigUse>, 2> words{
        {{"auto", KubeletConfigUse::automatic}, {"off", KubeletConfigUse::off}}};
    auto& use = config.agent.cluster.kubelet_config;
    use = setting.one_of(words).value_or(use);
}

std::string show_kubelet_config(const Config& config) {
    return config.agent.cluster.kubelet_config == KubeletConfigUse::off ? "off" : "auto";
}
std::string show_api_server(const Config& config) {
    return config.agent.cluster.api_server == ApiServerUse::off ? "off" : "auto";
}
std::string show_kubeconfig(const Config& config) { return excerpt(config.agent.cluster.kubeconfig); }
std::string show_kubelet_url(const Config& config) { return excerpt(config.agent.cluster.kubelet_url); }
std::string show_kubelet_ca_file(const Config& config) { return excerpt(config.agent.cluster.kubelet_ca_file); }
std::string show_kubelet_pods_socket(const Config& config) { return excerpt(config.agent.cluster.kubelet_pods_socket); }
std::string show_kubelet_root(const Config& config) { return excerpt(config.agent.cluster.kubelet_root); }
std::string show_pod_status(const Config& config) { return config.agent.cluster.pod_status ? "true" : "false"; }
std::string show_soft_eviction_api(const Config& config) {
    return config.agent.cluster.soft_eviction_api ? "true" : "false";
}

}  // namespace evictd::config
