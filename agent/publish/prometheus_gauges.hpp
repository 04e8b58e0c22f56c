// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The last look as gauges in Prometheus' terms: seconds, bytes and ratios, names that start with evictd_. Pure.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "evictd/model/config.hpp"
#include "evictd/model/record.hpp"

namespace evictd::publish {

// `thresholds`: all that are configured; those in seconds left are left out, for they have no quantity of their own.
[[nodiscard]] std::vector<prometheus::MetricFamily> gauges_of(const Tick& tick,
                                                              const std::vector<Threshold>& thresholds);

}  // namespace evictd::publish
