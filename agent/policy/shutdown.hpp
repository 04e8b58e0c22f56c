// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Whether the node shuts down gracefully: then the kubelet ends all pods itself, in its order and with their grace.
#pragma once

#include "evictd/model/observation.hpp"

namespace evictd::policy {

// logind is asked every 10 s while it says so (sys/logind). A bus or a logind that hangs must not stop evictions for
// ever, and six answers that are missing are no delay.
inline constexpr Duration logind_word_lasts = std::chrono::minutes(1);
// The kubelet's word is as old as its server's last word, and a shutdown that was cancelled may never be heard of while
// the API server is away. Longer than the grace periods that are configured as a rule (shutdownGracePeriod); a node
// that is cut off is without evictions for so long.
inline constexpr Duration kubelet_word_lasts = std::chrono::minutes(10);

// nodeshutdown.managerImpl: logind's PrepareForShutdown; what the kubelet then writes into the node's condition Ready.
// logind is what the kubelet itself listens to: while it is heard, its answer counts alone, so that what the API server
// still shows of an earlier shutdown stops no eviction. Until it has answered, and when it is not heard any more, the
// kubelet's word counts.
[[nodiscard]] inline ShutdownWord shutdown_of(const Observation& observation) {
    const auto& logind = observation.logind;
    const bool is_fresh = logind && observation.at - logind->said_at < logind_word_lasts;
    if (is_fresh && logind->shuts_down) return ShutdownWord::logind;
    if (logind && logind->current && !logind->shuts_down) return ShutdownWord::none;
    const auto& node = observation.node;
    const bool is_said = node && node->shutting_down && observation.at - node->heard_at < kubelet_word_lasts;
    return is_said ? ShutdownWord::kubelet : ShutdownWord::none;
}

}  // namespace evictd::policy
