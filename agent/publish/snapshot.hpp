// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Remembers what `evictd status` asks for: the last look, the last evictions, what was lost. Speaks only when asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "codec/status_json.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/publisher.hpp"

namespace evictd::publish {

// Policy's order over the pods of a look, with a sentence for each place. An error: this signal has no order here.
using RankPods = std::function<Result<codec::VictimOrder>(const Tick& tick, Signal signal)>;
// Counters that no Record carries, by cause: lines of the event log, records dropped, ...
using LossCounters = std::function<std::map<std::string, std::uint64_t>()>;

// The pods' sockets as they are now; an error: they are not counted here.
using ReadSockets = std::function<Result<SocketsReading>()>;

class Snapshot final : public port::Publisher {
public:
    // The callbacks are called in the publishing lane; each may be empty.
    Snapshot(codec::AgentStatus agent, RankPods rank, LossCounters losses, ReadSockets sockets = {});

    void publish(const RecordPtr& record) override;
    [[nodiscard]] std::string status() const;
    [[nodiscard]] Result<std::string> rank(Signal signal) const;

    // Any thread: the config or the sources changed.
    void set_agent(codec::AgentStatus agent);

private:
    [[nodiscard]] const Tick* tick() const;
    [[nodiscard]] codec::VictimOrder order(const Tick& tick) const;
    [[nodiscard]] codec::AgentStatus agent() const;

    mutable std::mutex mutex_;
    codec::AgentStatus agent_;  // under mutex_
    RankPods rank_;
    LossCounters losses_;
    ReadSockets sockets_;
    RecordPtr last_;  // a Tick
    std::vector<codec::PastEviction> evictions_;
    std::map<std::string, std::uint64_t> lost_;
};

}  // namespace evictd::publish
