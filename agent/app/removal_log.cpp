// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/removal_log.hpp"

#include "codec/gc_report.hpp"

namespace evictd::app {

std::optional<std::string> RemovalLog::line(const Garbage& one, const GarbageOutcome& outcome) {
    auto text = "garbage: " + codec::gc_step_text(one, outcome);
    if (one.orphan_of.empty()) return text;
    const std::pair key(one.kind, one.id);
    if (outcome.status == GarbageStatus::removed) {
        said_.erase(key);
        return text;
    }
    if (said_.size() >= most_kept && !said_.contains(key)) said_.clear();
    auto& said = said_[key];
    if (said == text) return std::nullopt;
    said = text;
    return text;
}

}  // namespace evictd::app
