// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The sentences of the event stream. Kubernetes' wording where there is one; an event's fields are event.cpp's.
#pragma once

#include <string>

#include "evictd/model/decision.hpp"
#include "evictd/model/kernel_event.hpp"
#include "evictd/model/record.hpp"

namespace evictd::codec {

[[nodiscard]] std::string met_sentence(const MetThreshold& met);
[[nodiscard]] std::string cleared_sentence(const MetThreshold& cleared);
[[nodiscard]] std::string condition_sentence(const ConditionEdge& edge);
// `pod`: whose tasks stall; empty: the node's.
[[nodiscard]] std::string stall_sentence(const StallEdge& edge, const std::string& pod);
// "87.5%" of a window.
[[nodiscard]] std::string share_text(Duration lost, StallWindow window);
[[nodiscard]] std::string reclaim_sentence(const std::vector<NodeReclaim>& reclaim, const GarbageList& removals,
                                           bool dry_run);
[[nodiscard]] std::string evicting_sentence(const Eviction& eviction, const std::string& pod, const Outcome* outcome);
// `rounds`: what followed the first SIGKILL; null: nothing, or it is not known.
[[nodiscard]] std::string evicted_sentence(const Victim& victim, const KillRounds* rounds, bool dry_run);
[[nodiscard]] std::string failed_sentence(const Victim& victim);
// `first`, `largest`: what those pods are called; the largest's is empty where it is not known.
[[nodiscard]] std::string delayed_sentence(const AwaitedPods& awaited, const std::string& first,
                                           const std::string& largest, MonotonicTime now);
[[nodiscard]] std::string delayed_sentence(const UnknownDiskUsage& unknown, const std::string& first,
                                           MonotonicTime now);
[[nodiscard]] std::string shed_sentence(const ShedEdge& edge, bool dry_run);

}  // namespace evictd::codec
