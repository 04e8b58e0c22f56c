// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
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

// Where it is served. An address that is another program's for now is tried again: in a rolling update the agent before
// us may still hold it.
struct HttpPlace {
    std::string address;  // "127.0.0.1:20262", "[::1]:20262"; port 0: any that is free
    // Why it does not serve, once for each reason in turn; then, once, that it does. Nothing where the first try
    // succeeds. Called by make(), and later in the server's lane.
    std::function<void(const Status& listening)> tell = [](const Status&) {};
    // Prometheus scrapes every 15 to 60 s: twice as much would cost it one scrape more, half would only be more tries.
    Duration retry = std::chrono::seconds(10);
};

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
    // Fails where the address is none.
    [[nodiscard]] static Result<std::unique_ptr<HttpServer>> make(HttpPlace place, HttpPages pages,
                                                                  HttpLimits limits = {});
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();  // hangs up at once

    // 0: it does not listen yet. Any thread.
    [[nodiscard]] int port() const;

private:
    struct Core;
    explicit HttpServer(std::unique_ptr<Core> core);
    std::unique_ptr<Core> core_;
};

}  // namespace evictd::publish
