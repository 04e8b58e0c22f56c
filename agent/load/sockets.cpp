// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "options.hpp"
#include "say.hpp"
#include "work.hpp"

namespace evictd::load {
namespace {

constexpr std::int64_t one_second = 1'000'000'000;
// How long the connections that it has are served once it gets no new ones.
constexpr std::int64_t serves_for_ns = 1'500'000'000;

int new_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

void close_all(std::vector<int>& sockets) {
    for (const int socket : sockets) {
        (void)::close(socket);
    }
    sockets.clear();
}

}  // namespace

void connect_and_grow(Hoard& hoard, std::size_t sockets_per_second, std::size_t most) {
    const std::int64_t pause = one_second / static_cast<std::int64_t>(std::max<std::size_t>(1, sockets_per_second));
    const std::size_t before = hoard.taken();
    std::vector<int> connections;
    std::optional<std::int64_t> refused_at;
    for (;; sleep_ns(pause)) {
        const int socket = new_socket();
        if (socket < 0 && errno == EPERM && !refused_at) {
            refused_at = now_ns();
            say(said_refused);
        } else if (socket >= 0 && refused_at) {
            (void)::close(socket);
            say(said_opened);
            rest();
        } else if (socket >= 0 && hoard.taken() < most) {
            connections.push_back(socket);
            hoard.grow_to(std::min(hoard.taken() + mib, most));
        } else if (socket >= 0) {
            (void)::close(socket);
        }
        if (refused_at && now_ns() - *refused_at > serves_for_ns) {
            close_all(connections);
            hoard.shrink_to(before);
        }
    }
}

void open_and_close_sockets() {
    constexpr int reported_every = 10;
    for (int opened = 0;; sleep_ns(one_second / 100)) {
        const int socket = new_socket();
        if (socket < 0) {
            say(said_refused);
            continue;
        }
        (void)::close(socket);
        if (++opened % reported_every == 0) {
            say(said_opened);
        }
    }
}

}  // namespace evictd::load
