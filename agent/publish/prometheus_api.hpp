// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Requests to the API server and the servers that pods come from, in Prometheus' terms. Pure.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "evictd/model/api_figures.hpp"
#include "evictd/model/signal_source.hpp"
#include "evictd/model/units.hpp"

namespace evictd::publish {

// Nothing where there is no server.
[[nodiscard]] std::vector<prometheus::MetricFamily> api_families(const ApiUse& use,
                                                                 const std::vector<PodSourceState>& sources,
                                                                 MonotonicTime now);

}  // namespace evictd::publish
