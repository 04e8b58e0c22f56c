// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "evictd/model/runtime_endpoint.hpp"

#include <sys/un.h>

namespace evictd {

std::optional<std::string> runtime_socket(std::string_view endpoint) {
    for (const std::string_view scheme : {"unix://", "unix:"}) {
        if (!endpoint.starts_with(scheme)) continue;
        endpoint.remove_prefix(scheme.size());
        break;
    }
    const bool fits = endpoint.size() < sizeof(sockaddr_un::sun_path);
    if (!fits || !endpoint.starts_with('/') || endpoint.ends_with('/') ||
        endpoint.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    return std::string(endpoint);
}

}  // namespace evictd
