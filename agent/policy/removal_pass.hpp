// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which pods begin to go for a taint, a deadline, or because they ended long ago. What comes of it is removals.hpp's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/removal.hpp"
#include "evictd/model/state.hpp"

namespace evictd::policy {

// An answer of the server is shown by its watch within a second; the kubelet's status manager writes every 10 s.
inline constexpr Duration removal_goes_within = std::chrono::seconds(15);

// Unanswered at a time: client-go's burst. More would only wait in the client, before whatever comes later.
inline constexpr std::size_t most_at_a_time = 10;

// One that did not go after so many attempts is asked for once an hour: something holds it that only a person ends.
inline constexpr std::int32_t quick_attempts = 5;
inline constexpr Duration slow_period = std::chrono::hours(1);

// The pods that the API server has, by UID. One that has departed is gone, for that. The observation outlives it.
class ListedPods {
public:
    explicit ListedPods(const Observation& observation);
    [[nodiscard]] const ObservedPod* find(const PodUid& uid) const;  // null: it is not listed

private:
    std::vector<const ObservedPod*> pods_;  // by UID
};

// Its request is to be under way: not answered, and not waiting after a failure.
[[nodiscard]] bool is_open(const Removal& removal);
[[nodiscard]] std::size_t count_open(const State& state);
// After the server rejected an attempt. Rights are changed by a person.
[[nodiscard]] Duration rest_after_rejection(std::int32_t attempt);
// Until then no other pod of its namespace is asked for by its kind: it would be rejected too. Epoch: it was not
// rejected. By namespace: rights and admission webhooks are, so that one namespace does not hold up the others.
[[nodiscard]] MonotonicTime holds_kind_until(const Removal& removal);
// The node's taints are known, as of now.
[[nodiscard]] bool is_heard(const Observation& observation);

// Adds to `state.removals`.
void begin_removals(const EvictionConfig& config, const Observation& observation, const ListedPods& listed,
                    State& state);

}  // namespace evictd::policy
