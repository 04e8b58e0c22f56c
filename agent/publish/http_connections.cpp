// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/http_connections.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include <sys/socket.h>

#include "publish/http_address.hpp"

namespace evictd::publish {

void HttpConnections::shut(Connection& connection) {
    (void)::shutdown(connection.fd, SHUT_RDWR);
    connection.is_shut = true;
}

void HttpConnections::add(MHD_Connection* library, MonotonicTime now) {
    const auto* fd = microhttpd().get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
    const auto* client = microhttpd().get_connection_info(library, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    connections_.push_back({library, fd->connect_fd, host_of(client != nullptr ? client->client_addr : nullptr), now});
}

void HttpConnections::remove(MHD_Connection* library) {
    connections_.remove_if([&](const Connection& known) { return known.library == library; });
}

void HttpConnections::make_room() {
    std::map<std::string, std::size_t> of_host;
    std::size_t all = 0;
    std::for_each(connections_.rbegin(), connections_.rend(), [&](Connection& connection) {
        if (connection.is_shut) return;
        if (++of_host[connection.host] > limits_.of_one_address || ++all > limits_.connections) shut(connection);
    });
}

void HttpConnections::shut_late(MonotonicTime now) {
    for (auto& connection : connections_) {
        if (now - connection.since < limits_.deadline) break;  // the oldest first
        if (!connection.is_shut) shut(connection);
    }
}

}  // namespace evictd::publish
