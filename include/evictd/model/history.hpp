// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What led to an eviction or to a kernel OOM kill, as the flight recorder kept it: what was available, who grew, who
// would have gone next. Plain values, bounded in size, told with the event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evictd/model/pod.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// What was available at a moment. None: it was not known.
struct MemorySample {
    MonotonicTime at;
    std::optional<Bytes> node;  // memory.available
    std::optional<Bytes> pods;  // allocatableMemory.available
};

struct History {
    // A threshold on the signal, a percentage already taken of the capacity.
    struct Line {
        bool hard = true;
        Amount value;
    };
    struct Growth {
        std::string pod;  // namespace/name
        Bytes grew;       // of its working set, within `grown_over`
        Bytes usage;      // its working set at the end
    };
    // A place in the victim order, usage and request in the signal's unit.
    struct Place {
        std::string pod;
        QosClass qos = QosClass::best_effort;
        std::int32_t priority = 0;
        std::int64_t usage = 0;
        std::int64_t request = 0;
        bool exempt = false;
        std::string why;  // a sentence
    };

    std::string id;       // of the event it belongs to
    std::string same_as;  // the id of the event that holds all the rest: it was told a moment before; empty: this one
    Signal signal = Signal::memory_available;
    WallTime start;
    Duration step{0};
    std::vector<std::optional<std::int64_t>> available;  // the least within each step; none: not sampled
    std::vector<Line> lines;
    // The moments that are known. `crossed` may lie before the start.
    std::optional<WallTime> crossed;
    std::optional<WallTime> asked;  // SIGTERM
    std::optional<WallTime> killed;
    std::optional<WallTime> emptied;
    std::string why;  // of an eviction: the decision in one sentence
    Duration grown_over{0};
    std::vector<Growth> growth;  // who grew most, the most first
    std::vector<Place> order;    // the head of the victim order
    std::int64_t pods = 0;       // in the whole of it
};
using HistoryPtr = std::shared_ptr<const History>;

}  // namespace evictd
