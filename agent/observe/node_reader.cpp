// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/node_reader.hpp"

#include <algorithm>
#include <chrono>

namespace evictd::observe {
namespace {

// What may be allocated and freed between a pass and the reading of the file after it.
constexpr Bytes tolerance = 4_MiB;

// A NUMA node that comes online is in the file at once, and in the pass only after its first page was used. Near a
// threshold rehearsals renew the comparison; after a sudden crossing far from one the file is read.
constexpr Duration comparison_lasts = std::chrono::seconds(1);

bool is_small(Bytes difference) { return std::max(difference, Bytes{} - difference) <= tolerance; }

Bytes lower_of_both(const port::NodeMemoryReading& reading) { return std::min(reading.available, reading.reclaimable); }

}  // namespace

std::optional<port::NodeMemoryReading> NodeReader::from_pass(const NodeNeed& need, MonotonicTime now) const {
    auto counted = usage_.node_memory();
    if (!counted || !compared_ || now - compared_->at > comparison_lasts) {
        return std::nullopt;
    }
    counted->total = compared_->total;
    if (is_small(compared_->available) && is_small(compared_->reclaimable) && !need.memory_returning) {
        return counted;
    }
    // With the differences of the last comparison, without per-CPU lists. The differences may be out of date, as memory
    // may have been initialized since: so all four figures have to be high enough.
    Bytes least = lower_of_both(*counted);
    counted->available += compared_->available;
    counted->reclaimable += compared_->reclaimable;
    least = std::min(least, lower_of_both(*counted));
    return least >= need.decides_below ? counted : std::nullopt;
}

void NodeReader::compare(const port::NodeMemoryReading& read, MonotonicTime now) {
    compared_.reset();
    if (const auto counted = usage_.node_memory()) {
        compared_ = {.available = read.available - read.cpu_lists - counted->available,
                     .reclaimable = read.reclaimable - read.cpu_lists - counted->reclaimable,
                     .total = read.total,
                     .at = now};
    }
}

Result<port::NodeMemoryReading> NodeReader::read(bool urgent, const NodeNeed& need, MonotonicTime now) {
    if (auto counted = urgent ? from_pass(need, now) : std::nullopt) {
        return *counted;
    }
    auto read = files_.read(need.memory_returning);
    if (read) {
        compare(*read, now);
    }
    return read;
}

}  // namespace evictd::observe
