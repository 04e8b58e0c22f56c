// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What Prometheus scrapes, as text; publish/http_server serves it. A scrape never waits for a look, nor a look for a
// scrape.
#pragma once

#include <memory>
#include <string>

#include "evictd/port/publisher.hpp"
#include "publish/status_document.hpp"

namespace evictd::publish {

class Prometheus final : public port::Publisher {
public:
    // `board` outlives it.
    Prometheus(const std::string& version, const StatusBoard& board);
    Prometheus(const Prometheus&) = delete;
    Prometheus& operator=(const Prometheus&) = delete;
    ~Prometheus() override;

    // Adds to the counters. The gauges are read from the newest document on request.
    void publish(const RecordPtr& record) override;

    // Any thread. The page /metrics, in Prometheus' text format.
    [[nodiscard]] std::string text() const;
    static constexpr const char* text_type = "text/plain; version=0.0.4; charset=utf-8";

private:
    struct Totals;  // the library's
    std::unique_ptr<Totals> totals_;
    const StatusBoard& board_;
};

}  // namespace evictd::publish
