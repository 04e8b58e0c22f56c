// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "kube/api_counters.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace evictd::kube {

void ApiCounters::count(const std::string& method, Kind kind, long code, Duration took) {
    const std::scoped_lock lock(mutex_);
    requests_[{kind == Kind::watch ? "WATCH" : method, code}]++;
    if (kind == Kind::watch) return;
    const double seconds = std::chrono::duration<double>(took).count();
    const auto* bucket = std::lower_bound(ApiFigures::bounds.begin(), ApiFigures::bounds.end(), seconds);
    totals_.durations.at(static_cast<std::size_t>(std::distance(ApiFigures::bounds.begin(), bucket)))++;
    totals_.time_spent += took;
}

void ApiCounters::count_dropped() {
    const std::scoped_lock lock(mutex_);
    totals_.dropped++;
}

ApiFigures ApiCounters::figures() const {
    const std::scoped_lock lock(mutex_);
    ApiFigures all = totals_;
    all.requests.reserve(requests_.size());
    for (const auto& [key, count] : requests_) {
        all.requests.push_back({.method = key.first, .code = key.second, .count = count});
    }
    return all;
}

}  // namespace evictd::kube
