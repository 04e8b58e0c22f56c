// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the agent knew of the node after one look. Never changed once it is published: any thread may keep it, and read
// it as long as it needs to. JSON is generated on request, not at each look.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/status_json.hpp"
#include "evictd/model/api_figures.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/record.hpp"
#include "evictd/model/result.hpp"
#include "sys/pi_mutex.hpp"

namespace evictd::publish {

// Why a pod is where it is in the order of `signal`, in a sentence: policy::place.
using Place = std::string (*)(Signal signal, const RankedPod& ranked, const Observation& observation);

// The policy's functions over a look; null: not offered.
struct PolicyView {
    Place place = nullptr;
    // The order by another signal than the decision's: policy::rank_again.
    std::vector<RankedPod> (*rank)(const EvictionConfig& config, Signal signal, const Observation& observation,
                                   const Decision& decided) = nullptr;
    // The order in which a ReplicaSet would give up pods: policy::scale_down_places.
    std::vector<ScaleDownPlace> (*scale_down)(const Observation& observation) = nullptr;
};

// What changes only with the config or the sources.
struct AgentFacts {
    codec::AgentStatus status;
    EvictionConfig eviction;
    std::function<std::vector<PodSourceState>()> pod_source_states{};  // as of now; thread-safe; null: there are none
    std::function<ApiUse()> api{};                                     // likewise
};

struct StatusDocument {
    PolicyView policy;
    std::shared_ptr<const AgentFacts> agent = std::make_shared<const AgentFacts>();
    RecordPtr look;  // a Tick; null: the agent has not looked yet
    std::shared_ptr<const std::vector<codec::PastEviction>> evictions =
        std::make_shared<const std::vector<codec::PastEviction>>();  // newest last
    std::shared_ptr<const std::map<std::string, std::uint64_t>> lost =
        std::make_shared<const std::map<std::string, std::uint64_t>>();  // by cause

    [[nodiscard]] const Tick* tick() const { return look ? std::get_if<Tick>(look.get()) : nullptr; }
    // For `evictd status`, with the decision's victim order. `sockets`: as read for this request.
    [[nodiscard]] std::string status(SocketsReading sockets = {}) const;
    // For `evictd rank`.
    [[nodiscard]] Result<std::string> rank(Signal signal) const;
    // For `evictd rank --order scale-down`.
    [[nodiscard]] Result<std::string> scale_down() const;
};

// Where the newest document is found. Every function is thread-safe.
class StatusBoard {
public:
    explicit StatusBoard(AgentFacts agent = {}, PolicyView policy = {});

    [[nodiscard]] std::shared_ptr<const StatusDocument> document() const;
    // The next document is a copy of this one, with what `change` changes in it. `change` runs under a lock: it only
    // assigns.
    void publish(const std::function<void(StatusDocument& next)>& change);
    // The config or the sources changed.
    void set_agent(AgentFacts agent);

private:
    mutable sys::PiMutex mutex_;                      // the real-time thread takes it too
    std::shared_ptr<const StatusDocument> document_;  // under mutex_
};

}  // namespace evictd::publish
