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
[[nodiscard]] std::string reclaim_sentence(const std::vector<NodeReclaim>& reclaim);
[[nodiscard]] std::string evicting_sentence(const Eviction& eviction, const std::string& pod, const Outcome* outcome);
// `rounds`: what followed the first SIGKILL; null: nothing, or it is not known.
[[nodiscard]] std::string evicted_sentence(const Victim& victim, const KillRounds* rounds, bool dry_run);
[[nodiscard]] std::string failed_sentence(const Victim& victim);
[[nodiscard]] std::string delayed_sentence(const AwaitedPods& awaited, const std::string& first, MonotonicTime now);
// No pod's process: it has no container either, and what it was to its cgroup tells nothing.
[[nodiscard]] bool is_outside_pods(const OomKill& kill);
// `pod`: the pod the victim process belonged to; empty when it is none that we know.
[[nodiscard]] std::string oom_sentence(const OomKill& kill, const std::string& pod);
// Likewise of the socket's pod.
[[nodiscard]] std::string socket_memory_sentence(const SocketMemoryShort& memory, const std::string& pod);
[[nodiscard]] std::string shed_sentence(const ShedEdge& edge, bool dry_run);
[[nodiscard]] std::string lost_sentence(const EventsLost& lost);

// What the kernel said, in a phrase: "memory.available fell below 100Mi to 95.1Mi".
[[nodiscard]] std::string phrase(const KernelEvent& event);

}  // namespace evictd::codec
