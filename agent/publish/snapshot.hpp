// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Publishes a StatusDocument with each look: the look itself, the last evictions, and what was lost until then.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evictd/port/publisher.hpp"
#include "publish/status_document.hpp"

namespace evictd::publish {

// Counters that no Record carries, by cause: lines of the event log, records dropped, ...
using LossCounters = std::function<std::map<std::string, std::uint64_t>()>;

class Snapshot final : public port::Publisher {
public:
    // `board` outlives it. `losses` is called in the publishing lane, and may be empty.
    Snapshot(StatusBoard& board, LossCounters losses);

    void publish(const RecordPtr& record) override;

private:
    [[nodiscard]] std::shared_ptr<const std::map<std::string, std::uint64_t>> all_lost() const;
    void remember(const Tick& tick);

    StatusBoard& board_;
    LossCounters losses_;
    std::shared_ptr<const std::vector<codec::PastEviction>> evictions_;
    std::map<std::string, std::uint64_t> lost_;  // as Records said
};

}  // namespace evictd::publish
