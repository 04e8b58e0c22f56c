// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An intent: what the API server is to show of a pod, noted before the pod is killed, until the server has answered. As
// text for the ledger on disk. Pods' UIDs are valid across boots, so an intent is, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/pod_status.hpp"

namespace evictd::reconcile {

struct Intent {
    DesiredPodStatus status;  // its decided_at may be of another boot
    WallTime noted_at;
    friend bool operator==(const Intent&, const Intent&) = default;
};

// Whether it has to outlive the agent: a pod that was killed must be shown as Failed. An eviction through the API has
// killed nothing yet: the next agent decides anew.
[[nodiscard]] bool is_worth_noting(const DesiredPodStatus& status);

[[nodiscard]] std::string intents_text(const std::vector<Intent>& intents);
struct IntentLedger {
    std::vector<Intent> intents;
    std::string fault;  // the first line that cannot be understood; empty: none
};
[[nodiscard]] IntentLedger intents_from(std::string_view text);

// The newest of each pod.
[[nodiscard]] std::vector<Intent> newest_of_each(std::vector<Intent> intents);

// FNV-1a, to tell a line or slot that was written to its end from one that was not. Not against forgery: only root
// writes there.
inline constexpr std::uint64_t checksum_prime = 0x100000001b3U;
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

}  // namespace evictd::reconcile
