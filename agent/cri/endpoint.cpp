// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/endpoint.hpp"

#include <mutex>
#include <string_view>

#include <sys/un.h>

#include "evictd/model/text.hpp"
#include "http/trusted_socket.hpp"

namespace evictd::cri {

const std::vector<std::string>& usual_sockets() {
    static const std::vector<std::string> usual{"/run/containerd/containerd.sock", "/run/crio/crio.sock"};
    return usual;
}

Result<std::optional<std::string>> find_endpoint(const std::string& configured, const std::vector<std::string>& usual) {
    constexpr std::string_view scheme = "unix://";
    if (!configured.empty()) {
        auto path = configured.starts_with(scheme) ? configured.substr(scheme.size()) : configured;
        if (!path.starts_with('/') || path.size() >= sizeof(sockaddr_un::sun_path)) {
            return fail(ErrorKind::invalid, "containerRuntimeEndpoint", in_quotes(configured) + " is no Unix socket",
                        "as unix:///run/containerd/containerd.sock, of 107 bytes at most");
        }
        return path;
    }
    for (const auto& path : usual) {
        const auto there = http::has_trusted_socket(path);
        if (!there) return tl::unexpected(there.error());
        if (*there) return path;
    }
    return std::nullopt;
}

// Not under the mutex: who asks what was found must not wait for a directory.
Result<std::string> Endpoint::find() {
    if (auto known = found(); !known.empty()) return known;
    auto looked = find_endpoint(configured_, usual_);
    if (!looked) return tl::unexpected(looked.error());
    if (!*looked) {
        return fail(ErrorKind::unreachable, "container runtime", "none at its usual sockets yet",
                    "set containerRuntimeEndpoint where it has another");
    }
    const std::scoped_lock lock(mutex_);
    if (found_.empty()) found_ = std::move(**looked);
    return found_;
}

std::string Endpoint::found() const {
    const std::scoped_lock lock(mutex_);
    return found_;
}

}  // namespace evictd::cri
