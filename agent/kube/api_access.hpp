// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Where the API server is, and the credentials: a pod's service account, or a kubeconfig file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "http/client.hpp"

namespace evictd::kube {

struct ApiAccess {
    http::ServerAddress server;
    std::string token_file;  // read for each request, because it is rotated; empty: `token`
    std::string token;       // empty: the client certificate says who we are
    std::string from;        // "service account", "kubeconfig /etc/evictd/kubeconfig": for people
    friend bool operator==(const ApiAccess&, const ApiAccess&) = default;
};

// What the kubelet gives to every pod (rest.InClusterConfig).
struct PodEnvironment {
    std::string host;  // KUBERNETES_SERVICE_HOST; empty: not in a pod
    std::string port;  // KUBERNETES_SERVICE_PORT
    std::string account = "/var/run/secrets/kubernetes.io/serviceaccount";  // has `token` and `ca.crt`
};
[[nodiscard]] PodEnvironment pod_environment();

// Of a pod: `environment.host` is not empty.
[[nodiscard]] Result<ApiAccess> access_from_pod(const PodEnvironment& environment);
// The file's current context (clientcmd). What runs programs to get credentials is refused, and so is a server whose
// certificate is not verified. Paths in the file are relative to it.
[[nodiscard]] Result<ApiAccess> access_from_kubeconfig(const std::string& path);

// The token for a request made now.
[[nodiscard]] Result<std::string> current_token(const ApiAccess& access);

// How to get the access that is configured. Nothing: there is no API server to ask, as outside of a pod without a
// kubeconfig.
[[nodiscard]] std::optional<std::function<Result<ApiAccess>()>> find_access(const ClusterConfig& cluster);

// A file with credentials or certificates, of 1 MiB at most. One that others than root and this user may write to is
// refused: its writer would choose the server.
[[nodiscard]] Result<std::string> read_trusted_file(const std::string& path);

// Loaded when it is first needed, and again after a failure: the file may be late, and certificates are replaced.
class AccessSource {
public:
    using Load = std::function<Result<ApiAccess>()>;
    explicit AccessSource(Load load) : load_(std::move(load)) {}

    // Valid until the next get().
    [[nodiscard]] Result<const ApiAccess*> get();
    void forget() { is_stale_ = true; }
    // Changes when get() returns something else than before, for what is made of it.
    [[nodiscard]] int generation() const { return generation_; }

private:
    Load load_;
    std::optional<ApiAccess> loaded_;
    bool is_stale_ = true;
    int generation_ = 0;
};

}  // namespace evictd::kube
