// SPDX-License-Identifier: Apache-2.0
// What Prometheus scrapes: GET /metrics, answered by threads of the HTTP server's own. A scrape never waits for a look,
// nor a look for a scrape.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/publisher.hpp"
#include "publish/snapshot.hpp"

namespace evictd::publish {

struct PrometheusOptions {
    std::string address;  // "127.0.0.1:20262", "[::1]:20262"; port 0: any that is free
    std::string version;
    std::function<std::vector<Threshold>()> thresholds;  // as they are now; any thread
    LossCounters losses;                                 // called in the publishing lane
};

class Prometheus final : public port::Publisher {
public:
    // Fails where the address cannot be listened on.
    [[nodiscard]] static Result<std::unique_ptr<Prometheus>> make(PrometheusOptions options);
    Prometheus(const Prometheus&) = delete;
    Prometheus& operator=(const Prometheus&) = delete;
    ~Prometheus() override;

    void publish(const RecordPtr& record) override;
    [[nodiscard]] int port() const;

private:
    struct Server;  // the library's, and what it scrapes
    Prometheus(std::unique_ptr<Server> server, PrometheusOptions options);

    std::unique_ptr<Server> server_;
    std::string address_;
    LossCounters losses_;
};

}  // namespace evictd::publish
