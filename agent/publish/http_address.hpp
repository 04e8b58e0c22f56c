// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The socket that HTTP is served at, and the addresses of those who connect to it.
#pragma once

#include <string>

#include <sys/socket.h>

#include "evictd/model/result.hpp"
#include "sys/fd.hpp"

namespace evictd::publish {

// `text` as config/ checked it: by number, IPv6 in brackets. `invalid`: it is none. Any other error may pass: the
// port is another program's for now, the address is not set up yet, no descriptor is left.
[[nodiscard]] Result<sys::Fd> listen_on(const std::string& text);
[[nodiscard]] int port_of(const sys::Fd& listener);
// The same for all connections from one host; empty where `address` is null.
[[nodiscard]] std::string host_of(const sockaddr* address);

}  // namespace evictd::publish
