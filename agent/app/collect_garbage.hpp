// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What `evictd gc` does: one look at the container runtime and the logs, the policy's choice, and its removal. By the
// rules of a reclaim under pressure (policy/garbage); the same keeper asks again before each removal.
#pragma once

#include <functional>

#include "codec/gc_report.hpp"
#include "evictd/model/config.hpp"
#include "evictd/model/result.hpp"

namespace evictd::app {

struct CollectGarbage {
    bool dry_run = false;
    bool images = true;  // which of them, `config.eviction.garbage` says
    std::function<void(const codec::GcReport& plan)> on_plan;
    // `done`: how many there are with this one.
    std::function<void(std::size_t done, const Garbage& one, const GarbageOutcome& outcome)> on_removal;
    std::function<bool()> is_interrupted;  // true: no more is begun
};

// Waits for as long as the runtime takes. Error: there is no runtime, or it does not answer, or not as CRI has it: then
// nothing was removed.
[[nodiscard]] Result<codec::GcReport> collect_garbage(const Config& config, const CollectGarbage& how);

}  // namespace evictd::app
