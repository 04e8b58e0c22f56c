// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/endpoint.hpp"

#include <array>
#include <string_view>

#include <sys/un.h>

#include "evictd/model/text.hpp"
#include "http/trusted_socket.hpp"

namespace evictd::cri {
namespace {

constexpr std::array<std::string_view, 2> usual{"/run/containerd/containerd.sock", "/run/crio/crio.sock"};

}  // namespace

Result<std::optional<std::string>> find_endpoint(const std::string& configured) {
    constexpr std::string_view scheme = "unix://";
    if (!configured.empty()) {
        auto path = configured.starts_with(scheme) ? configured.substr(scheme.size()) : configured;
        if (!path.starts_with('/') || path.size() >= sizeof(sockaddr_un::sun_path)) {
            return fail(ErrorKind::invalid, "containerRuntimeEndpoint", in_quotes(configured) + " is no Unix socket",
                        "as unix:///run/containerd/containerd.sock, of 107 bytes at most");
        }
        return path;
    }
    for (const auto path : usual) {
        const auto there = http::has_trusted_socket(std::string(path));
        if (!there) return tl::unexpected(there.error());
        if (*there) return std::string(path);
    }
    return std::nullopt;
}

}  // namespace evictd::cri
