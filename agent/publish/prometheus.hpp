// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What Prometheus scrapes, as text; publish/http_server serves it. A scrape never waits for a look, nor a look for a
// scrape.
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
    std::string version;
    std::function<std::vector<Threshold>()> thresholds;  // as they are now; any thread
    LossCounters losses;                                 // called in the publishing lane
};

class Prometheus final : public port::Publisher {
public:
    explicit Prometheus(PrometheusOptions options);
    Prometheus(const Prometheus&) = delete;
    Prometheus& operator=(const Prometheus&) = delete;
    ~Prometheus() override;

    void publish(const RecordPtr& record) override;

    // Any thread. The page /metrics, in Prometheus' text format.
    [[nodiscard]] std::string text() const;
    static constexpr const char* text_type = "text/plain; version=0.0.4; charset=utf-8";
    // Any thread. Whether the node was looked at.
    [[nodiscard]] bool has_looked() const;

private:
    struct Metrics;  // the library's
    std::unique_ptr<Metrics> metrics_;
    LossCounters losses_;
};

}  // namespace evictd::publish
