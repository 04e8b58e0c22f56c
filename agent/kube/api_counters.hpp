// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Counts requests to the API server, for metrics. Thread-safe. Not for decisions.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "evictd/model/api_figures.hpp"

namespace evictd::kube {

class ApiCounters {
public:
    enum class Kind : std::uint8_t { request, watch };

    // `code` 0: no answer. `took`: from the first byte sent to the end of the answer.
    void count(const std::string& method, Kind kind, long code, Duration took);
    void count_dropped();
    [[nodiscard]] ApiFigures figures() const;

private:
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, long>, std::uint64_t> requests_;
    ApiFigures totals_;  // without its `requests`
};

}  // namespace evictd::kube
