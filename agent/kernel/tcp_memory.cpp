// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kernel/tcp_memory.hpp"

#include <limits>
#include <sstream>

#include <unistd.h>

#include "sys/file.hpp"

namespace evictd::kernel {
namespace {

constexpr std::size_t file_limit = 65536;

// "TCP: inuse 3 orphan 0 tw 2 alloc 5 mem 7": all network namespaces' in `mem`, in pages.
std::optional<std::int64_t> pages_used(const std::string& sockstat) {
    std::istringstream lines(sockstat);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word) || word != "TCP:") {
            continue;
        }
        for (std::int64_t value = 0; words >> word >> value;) {
            if (word == "mem") {
                return value;
            }
        }
    }
    return std::nullopt;
}

Bytes bytes_of(std::int64_t pages, std::int64_t page_size) {
    const auto most = std::numeric_limits<std::int64_t>::max() / page_size;
    return {(pages < 0 ? 0 : pages < most ? pages : most) * page_size};
}

}  // namespace

std::optional<TcpMemory> tcp_memory_of(const std::string& sockstat, const std::string& tcp_mem,
                                       std::int64_t page_size) {
    const auto used = pages_used(sockstat);
    std::istringstream figures(tcp_mem);
    std::int64_t well = 0;
    std::int64_t pressure = 0;
    std::int64_t limit = 0;
    if (!used || !(figures >> well >> pressure >> limit)) {
        return std::nullopt;
    }
    return TcpMemory{bytes_of(*used, page_size), bytes_of(pressure, page_size), bytes_of(limit, page_size)};
}

std::optional<TcpMemory> read_tcp_memory() {
    const auto sockstat = sys::read_file("/proc/net/sockstat", file_limit);
    const auto tcp_mem = sys::read_file("/proc/sys/net/ipv4/tcp_mem", file_limit);
    return sockstat && tcp_mem ? tcp_memory_of(*sockstat, *tcp_mem, sysconf(_SC_PAGESIZE)) : std::nullopt;
}

}  // namespace evictd::kernel
