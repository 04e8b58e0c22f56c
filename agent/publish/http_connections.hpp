// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The connections that the HTTP library holds, and which of them have to go.
#pragma once

#include <list>
#include <string>

#include "evictd/model/units.hpp"
#include "publish/http_server.hpp"
#include "publish/microhttpd_library.hpp"

namespace evictd::publish {

// A connection is ended by shutdown(2) of its socket: to the library the client has gone, and it closes at its next
// turn.
class HttpConnections {
public:
    explicit HttpConnections(const HttpLimits& limits) : limits_(limits) {}

    void add(MHD_Connection* library, MonotonicTime now);
    void remove(MHD_Connection* library);
    [[nodiscard]] bool empty() const { return connections_.empty(); }

    // The oldest go beyond HttpLimits::connections and HttpLimits::of_one_address. After a turn: one that was accepted
    // in it is then younger than those that go, and has the next turn to be answered.
    void make_room();
    // Those older than HttpLimits::deadline.
    void shut_late(MonotonicTime now);

private:
    struct Connection {
        MHD_Connection* library = nullptr;
        int fd = -1;
        std::string host;
        MonotonicTime since;
        bool is_shut = false;
    };
    static void shut(Connection& connection);

    HttpLimits limits_;
    std::list<Connection> connections_;  // the oldest first
};

}  // namespace evictd::publish
