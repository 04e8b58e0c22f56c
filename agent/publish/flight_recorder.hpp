// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps the last half minute of pressure and growth in memory, and adds it to the records of evictions and kernel OOM
// kills. Lives in the publishing lane: nothing on the kill path waits for it, and what it keeps is bounded.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evictd/model/history.hpp"
#include "evictd/model/record.hpp"
#include "publish/status_document.hpp"

namespace evictd::publish {

struct FlightRecorderNeeds {
    const StatusBoard& board;  // has the thresholds, for the lines in the picture
    Place place;
    std::function<std::vector<MemorySample>()> kernel_samples;  // the timer's, oldest first; empty: there is no timer
};

class FlightRecorder {
public:
    explicit FlightRecorder(FlightRecorderNeeds needs) : needs_(std::move(needs)) {}

    // The record itself, or, where something was evicted or killed at this look, a copy of it with the histories. In
    // the order in which records are published.
    [[nodiscard]] RecordPtr complete(const RecordPtr& record);

private:
    // An eviction on its way: what was known when it began, for when it ends.
    struct Begun {
        History history;
        MonotonicTime from;
        std::vector<MemorySample> kernel;
        std::vector<MemorySample> looks;
    };
    // What every pod used at a look.
    struct Footprint {
        MonotonicTime at;
        std::vector<std::pair<PodPtr, Bytes>> pods;
    };

    void note(const Observation& observation);
    void evicting(const Tick& tick, std::vector<HistoryPtr>& histories);
    void evicted(const Tick& tick, const Victim& victim, std::vector<HistoryPtr>& histories);
    void oom_kills(const Tick& tick, std::vector<HistoryPtr>& histories);
    void add_growth(const Observation& observation, History& history) const;
    void add_lines(const Observation& observation, History& history) const;
    void sample(Begun& begun, MonotonicTime to) const;
    [[nodiscard]] Begun begin(const Tick& tick, std::string id, Signal signal) const;
    [[nodiscard]] History::Place place_of(const RankedPod& ranked, Signal signal, const Observation& observation) const;

    FlightRecorderNeeds needs_;
    std::deque<MemorySample> looks_;
    std::deque<Footprint> footprints_;
    std::map<std::string, Begun> begun_;  // by id
    std::string last_oom_;                // the id of the last that was recorded in full
    MonotonicTime last_oom_at_;
};

}  // namespace evictd::publish
