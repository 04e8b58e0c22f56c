// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The scenario oomrace: a race that the kernel's OOM killer wins by construction, because the only threshold is a soft
// one and its grace period still runs when the limit is hit. What is shown is whom the kernel takes then: with steering
// the pod that evictd would have evicted first, without it another. Values and judgement only.
#pragma once

#include "demo/scenario.hpp"
#include "demo/story.hpp"
#include "demo/verdict.hpp"

namespace evictd::demo {

// Two pods with the same QoS class, the same request and so the same oom_score_adj. The one of low priority grows, in
// several processes: evictd would evict it. The other is one big quiet process: the kernel, which knows no priority and
// weighs processes, would take that. `node` is all of the machine's memory: requests are shares of it.
[[nodiscard]] Plan oomrace_plan(Bytes limit, Bytes node, bool steering);

[[nodiscard]] Verdict judge_oomrace(const Plan& plan, const Story& story, const Facts& facts);

}  // namespace evictd::demo
