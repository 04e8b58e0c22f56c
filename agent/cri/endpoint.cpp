// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "cri/endpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "evictd/model/runtime_endpoint.hpp"
#include "evictd/model/text.hpp"
#include "http/trusted_socket.hpp"

namespace evictd::cri {

const std::vector<std::string>& usual_sockets() {
    static const std::vector<std::string> usual{"/run/containerd/containerd.sock", "/run/crio/crio.sock"};
    return usual;
}

Error no_endpoint(const std::vector<std::string>& usual) {
    std::string paths;
    for (const auto& path : usual) paths += (paths.empty() ? "" : " or ") + path;
    return {ErrorKind::unreachable, "container runtime", "none at " + paths,
            "set containerRuntimeEndpoint where it has another; in a container, mount the socket's directory"};
}

Result<std::optional<std::string>> find_endpoint(const std::string& configured, const std::vector<std::string>& usual) {
    if (!configured.empty()) {
        auto path = runtime_socket(configured);
        if (!path) {
            return fail(ErrorKind::invalid, "containerRuntimeEndpoint", in_quotes(configured) + " is no Unix socket",
                        std::string(runtime_endpoint_expected));
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
    auto order = usual_;
    {
        const std::scoped_lock lock(mutex_);
        if (is_certain_) return found_;
        std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first_), order.end());
    }
    auto looked = find_endpoint(configured_, order);
    if (!looked) return tl::unexpected(looked.error());
    if (!*looked) return tl::unexpected(no_endpoint(usual_));
    const std::scoped_lock lock(mutex_);
    if (!is_certain_) found_ = std::move(**looked);
    is_certain_ = is_certain_ || !configured_.empty();
    return found_;
}

// One that was found before, and fails late, says nothing of the one that is found now.
void Endpoint::note_call(const std::string& socket, bool answered) {
    const std::scoped_lock lock(mutex_);
    if (is_certain_ || socket != found_) return;
    is_certain_ = answered;
    if (answered) return;
    const auto at = std::find(usual_.begin(), usual_.end(), socket);
    if (at != usual_.end()) first_ = (static_cast<std::size_t>(at - usual_.begin()) + 1) % usual_.size();
}

std::string Endpoint::found() const {
    const std::scoped_lock lock(mutex_);
    return found_;
}

}  // namespace evictd::cri
