// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "publish/event_holds.hpp"

#include <algorithm>
#include <chrono>

#include "evictd/port/api_server.hpp"

namespace evictd::publish {
namespace {

// One whose events are no longer sent is forgotten after as long again, and begins anew.
constexpr Duration remembered = 2 * EventHolds::longest;

}  // namespace

int EventHolds::refuse(const std::string& name_space, MonotonicTime now, double factor) {
    std::erase_if(holds_, [&](const auto& row) { return row.second.until + remembered < now; });
    auto& hold = holds_.try_emplace(name_space, Hold{.since = now}).first->second;
    hold.pause = std::clamp<Duration>(hold.pause * 2, shortest, longest);
    hold.until = now + std::chrono::duration_cast<Duration>(hold.pause * factor);
    return ++hold.refusals;
}

MonotonicTime EventHolds::until(const std::string& name_space) const {
    const auto found = holds_.find(name_space);
    return found == holds_.end() ? MonotonicTime{} : found->second.until;
}

bool EventHolds::is_lasting(const std::string& name_space) const {
    const auto found = holds_.find(name_space);
    return found != holds_.end() && found->second.until - found->second.since > port::longest_start;
}

}  // namespace evictd::publish
