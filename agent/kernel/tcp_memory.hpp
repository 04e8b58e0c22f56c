// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// How much memory all TCP sockets of the node take, against net.ipv4.tcp_mem.
#pragma once

#include <optional>
#include <string>

#include "evictd/model/sockets.hpp"

namespace evictd::kernel {

// From /proc/net/sockstat and /proc/sys/net/ipv4/tcp_mem; none where either is not there or says something else. The
// texts are passed for tests.
[[nodiscard]] std::optional<TcpMemory> tcp_memory_of(const std::string& sockstat, const std::string& tcp_mem,
                                                     std::int64_t page_size);
[[nodiscard]] std::optional<TcpMemory> read_tcp_memory();

}  // namespace evictd::kernel
