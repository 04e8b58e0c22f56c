// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether a server on this host was started again, without a request to it. It says nothing about whether it answers.
#pragma once

#include <cstdint>
#include <string>

namespace evictd::app {

// The socket that listens on this TCP port, in this thread's network namespace: its inode, which is another one when
// the server was started again. Empty: there is none, or the kernel has no sock_diag(7) for TCP.
[[nodiscard]] std::string listener_on(std::uint16_t port);

// Of "https://127.0.0.1:10250"; 0: it has none.
[[nodiscard]] std::uint16_t port_of(const std::string& url);

}  // namespace evictd::app
