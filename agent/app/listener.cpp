// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/listener.hpp"

#include <charconv>
#include <fstream>
#include <sstream>

namespace evictd::app {
namespace {

constexpr auto listening = "0A";  // TCP_LISTEN

// net/ipv4/tcp_ipv4.c, tcp_seq_start(): sockets that listen come first, so the thousands of others are not read.
std::string listener_in(const char* file, std::uint16_t port) {
    std::ifstream table(file);
    std::string line;
    std::getline(table, line);  // the head
    while (std::getline(table, line)) {
        std::istringstream words(line);
        std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
        words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
        if (state != listening) return {};
        const auto colon = local.rfind(':');
        std::uint16_t own = 0;
        if (colon == std::string::npos) return {};
        (void)std::from_chars(local.data() + colon + 1, local.data() + local.size(), own, 16);
        if (own == port) return inode;
    }
    return {};
}

}  // namespace

std::string listener_on(std::uint16_t port) {
    if (auto found = listener_in("/proc/thread-self/net/tcp", port); !found.empty()) return found;
    return listener_in("/proc/thread-self/net/tcp6", port);
}

std::uint16_t port_of(const std::string& url) {
    const auto colon = url.rfind(':');
    std::uint16_t port = 0;
    if (colon != std::string::npos) (void)std::from_chars(url.data() + colon + 1, url.data() + url.size(), port);
    return port;
}

}  // namespace evictd::app
