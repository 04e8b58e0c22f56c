// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What goes over the agent's sockets besides events and status documents: the request, one line of JSON, the answer to
// one that cannot be served, and whether the agent is alive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evictd/model/result.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd::codec {

enum class RequestVerb : std::uint8_t { status, events, rank };
// victims: the order of eviction for a signal. scale_down: the order in which a ReplicaSet would give up pods.
enum class RankOrder : std::uint8_t { victims, scale_down };

}  // namespace evictd::codec

namespace evictd {

template <>
struct Names<codec::RequestVerb> {
    static constexpr Words<3> words{"status", "events", "rank"};
};
template <>
struct Names<codec::RankOrder> {
    static constexpr Words<2> words{"victims", "scale-down"};
};

}  // namespace evictd

namespace evictd::codec {

struct StatusRequest {
    RequestVerb verb = RequestVerb::status;
    Signal signal = Signal::memory_available;  // rank, in the order of victims
    RankOrder order = RankOrder::victims;      // rank
    bool follow = false;                       // events: go on with what happens
    std::optional<Duration> since;             // events: from so long ago; without it all, or with follow only new ones
    std::string reason;                        // events: only these; empty: all
    std::string id;                            // events: only those whose id begins so; "*": those that have one
};

// {"verb":"events","follow":true,"since_ms":600000,"reason":"Evicted"}; without the newline.
[[nodiscard]] std::string to_json_line(const StatusRequest& request);
// Unknown keys are skipped. The error's `what` is "request".
[[nodiscard]] Result<StatusRequest> request_from_json(std::string_view line);

// The line of the health socket. What is alive is sys/proof_of_life's to say.
struct Health {
    bool is_alive = false;  // every thread has given a proof of life
    bool is_ready = false;  // and the agent has looked at the node
    std::string detail;     // why it is not; for people
};
// {"v":1,"alive":true,"ready":true}; without the newline.
[[nodiscard]] std::string health_json_line(const Health& health);
// None: it is no such line.
[[nodiscard]] std::optional<Health> health_from_json(std::string_view line);

// {"v":1,"error":{"kind":"invalid","what":"...","why":"...","remedy":"..."}}
[[nodiscard]] std::string error_json_line(const Error& error);
// The error that `line` is, if it is one.
[[nodiscard]] std::optional<Error> error_from_json(std::string_view line);

}  // namespace evictd::codec
