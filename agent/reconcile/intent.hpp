// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An intent: what the API server is to show of a pod, noted before the pod is killed, until the eviction is over. As
// text for the ledger on disk. Pods' UIDs are valid across boots; what an intent says of processes and of the monotonic
// clock is not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evictd/model/pod_status.hpp"

namespace evictd::reconcile {

struct Intent {
    DesiredPodStatus status;
    WallTime noted_at;
    std::string boot{};     // in which it was noted; empty: this one
    bool answered = false;  // the API server has accepted it; the pod is still watched
    friend bool operator==(const Intent&, const Intent&) = default;
};

// Whether it has to outlive the agent: a pod that was killed must be shown as Failed. An eviction through the API has
// killed nothing yet: the next agent decides anew.
[[nodiscard]] bool is_worth_noting(const DesiredPodStatus& status);

// Whether an agent that starts `now` resumes it. Of an eviction that was accepted only the watch is left, which is
// short: a pod that runs long after it is not killed for it.
[[nodiscard]] bool is_resumable(const Intent& intent, MonotonicTime now);

// `boot`: the id of this one.
[[nodiscard]] std::string intents_text(const std::vector<Intent>& intents, const std::string& boot);
struct IntentLedger {
    std::vector<Intent> intents;
    std::string fault;  // the first line that cannot be understood; empty: none
};
// Lines after one that cannot be understood are read; of a text without the head of a ledger none is.
[[nodiscard]] IntentLedger intents_from(std::string_view text, const std::string& boot);

// The newest of each pod, whatever the wall clock did meanwhile: of this boot before any other, then by the monotonic
// clock and the attempt. Those of other boots: by the wall clock, there is nothing else.
[[nodiscard]] std::vector<Intent> newest_of_each(std::vector<Intent> intents);

// FNV-1a, to tell a line or slot that was written to its end from one that was not. Not against forgery: only root
// writes there.
inline constexpr std::uint64_t checksum_prime = 0x100000001b3U;
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

}  // namespace evictd::reconcile
