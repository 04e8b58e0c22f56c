// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An HTTP client of a few lines, on loopback: what it sends is up to the test.
#pragma once

#include <array>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sys/fd.hpp"

namespace evictd::publish {

inline sys::Fd connect_to(int port, int flags = 0) {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what connect(2) wants
    (void)::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return socket;
}

// Until the server hangs up; what came within 10 s.
inline std::string read_all(const sys::Fd& socket) {
    std::string answer;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(socket.get(), part.data(), part.size())) > 0;)
        answer.append(part.data(), static_cast<std::size_t>(got));
    return answer;
}

inline void send_text(const sys::Fd& socket, const std::string& text) {
    (void)::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

inline std::string request(int port, const std::string& text) {
    const auto socket = connect_to(port);
    send_text(socket, text);
    return read_all(socket);
}

inline std::string ask(int port, const std::string& path, const std::string& method = "GET") {
    return request(port, method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

}  // namespace evictd::publish
