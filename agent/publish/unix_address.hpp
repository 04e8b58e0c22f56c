// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A path as the address of a unix socket, for both ends of the status socket.
#pragma once

#include <string>

#include <sys/socket.h>
#include <sys/un.h>

#include "evictd/model/result.hpp"

namespace evictd::publish {

// An address holds 107 characters; a longer path is an error.
[[nodiscard]] Result<sockaddr_un> unix_address(const std::string& path);

// bind(2) and connect(2) take any kind of address.
[[nodiscard]] inline const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);  // NOLINT(*-reinterpret-cast): what sockets want
}

}  // namespace evictd::publish
