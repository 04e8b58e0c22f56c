// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which Unix socket is believed to be a privileged server's: the kubelet's, or the container runtime's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "evictd/model/result.hpp"

namespace evictd::http {

// Which socket a path names. A server that is started again binds a new one: it may get the inode number of the one
// that is gone, but not its time.
struct SocketIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;  // ctime, since 1970
    friend bool operator==(const SocketIdentity&, const SocketIdentity&) = default;
};

// The socket at `path`. None: there is none. Error: it is not root's (or this user's), is no socket, or others may
// replace it: what another user says of pods is not the server's word.
[[nodiscard]] Result<std::optional<SocketIdentity>> find_trusted_socket(const std::string& path);

// Whether it is there. Errors are those of find_trusted_socket().
[[nodiscard]] Result<bool> has_trusted_socket(const std::string& path);

}  // namespace evictd::http
