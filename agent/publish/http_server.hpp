// SPDX-License-Identifier: Apache-2.0
// Pages over HTTP, for Prometheus, probes and browsers: libmicrohttpd in a lane of its own. Every client is hostile: a
// connection has one request, little memory and little time, and all of them together have a small part of one CPU.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "evictd/model/result.hpp"
#include "evictd/model/units.hpp"

namespace evictd::publish {

struct HttpAnswer {
    unsigned int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body;
};

// By path, without the query. Called in the server's lane; GET and HEAD are the same to it. What one throws ends the
// program, as in every lane.
using HttpPages = std::map<std::string, std::function<HttpAnswer()>>;

struct HttpLimits {
    // Prometheus needs one connection, a probe one, a person's browser six.
    std::size_t connections = 48;
    // Of those, of one address. Beyond either number the oldest connection makes room: an honest one is answered within
    // milliseconds and so is never the oldest for long, however many are opened and left. Refusing the newest instead
    // (the library's own limit) would let one local user keep out all who share its address.
    std::size_t of_one_address = 32;
    Duration idle = std::chrono::seconds(5);       // nothing came or went
    Duration deadline = std::chrono::seconds(20);  // in all, also for who reads a byte a second
    // A request's headers; more is refused with 431. Locked memory, hence not the library's 32 KiB.
    std::size_t memory = std::size_t{8} << 10U;
    // After each turn the lane rests this many times as long as the turn took, 250 ms at most: 1/25 of a CPU whatever
    // the clients do, as long as a turn takes 10 ms or less.
    int rest = 24;
};

class HttpServer {
public:
    // `address`: "127.0.0.1:20262", "[::1]:20262"; port 0: any that is free. Fails where it cannot be listened on.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> make(const std::string& address, HttpPages pages,
                                                                  HttpLimits limits = {});
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();  // hangs up at once

    [[nodiscard]] int port() const { return port_; }

private:
    struct Core;
    HttpServer(std::unique_ptr<Core> core, int port);
    std::unique_ptr<Core> core_;
    int port_;
};

}  // namespace evictd::publish
