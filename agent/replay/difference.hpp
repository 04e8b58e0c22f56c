// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Two stories of the same node side by side, look by look: only where they differ. For people, where the same
// difference lasts over several looks it is reported once; for tools, one JSON object for each look.
#pragma once

#include <cstddef>
#include <string>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::replay {

struct Side {
    const Decision& decision;
    const Observation& observation;
    std::string line;  // the decision as JSON
};

// "memory.available (hard) met; MemoryPressure; evicts default/web for memory.available, grace 1s".
[[nodiscard]] std::string course_text(const Decision& decision, const Observation& observation);

class Differences {
public:
    enum class Format { text, json };
    // What the sides are called; `as_told` is what happens anyway.
    Differences(Format format, std::string as_told, std::string with)
        : format_(format), as_told_(std::move(as_told)), with_(std::move(with)) {}

    // Appends to `out` what there is to say of one look; `when` names it.
    void look(const std::string& when, const Side& as_told, const Side& with, std::string& out);
    // And after the last one. Text only.
    void summary(std::string& out);

    [[nodiscard]] bool evictions_differ() const { return evictions_differ_; }

private:
    void tell(const std::string& when, const Side& as_told, const Side& with, std::string& out);
    void tell_repeated(std::string& out);

    Format format_;
    std::string as_told_;
    std::string with_;
    std::string first_;  // where they differed first
    std::string last_told_;
    std::string last_when_;
    std::size_t repeated_ = 0;
    std::size_t looks_ = 0;
    std::size_t differ_ = 0;
    std::size_t evicted_as_told_ = 0;
    std::size_t evicted_with_ = 0;
    bool evictions_differ_ = false;
};

}  // namespace evictd::replay
