// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/health_socket.hpp"

#include <utility>

#include <sys/socket.h>

namespace evictd::publish {

std::string health_socket_path(const std::string& status_socket_path) { return status_socket_path + ".health"; }

Result<std::unique_ptr<HealthSocket>> HealthSocket::make(sys::Loop& loop, const std::string& path, Answer answer) {
    auto listener = UnixListener::make("health socket " + path, path);
    if (!listener) return tl::unexpected(listener.error());
    std::unique_ptr<HealthSocket> made(new HealthSocket(std::move(answer)));
    auto acceptor = UnixAcceptor::make(loop, std::move(*listener), [socket = made.get()](const sys::Fd& connection) {
        socket->on_connection(connection);
    });
    if (!acceptor) return tl::unexpected(acceptor.error());
    made->acceptor_ = std::move(*acceptor);
    return made;
}

// An empty connection has room for a line; what a client does with it is its own affair.
void HealthSocket::on_connection(const sys::Fd& connection) {
    if (!is_permitted_peer(connection.get())) return;
    const auto line = answer_() + "\n";
    (void)::send(connection.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace evictd::publish
