// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/difference.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/decision_json.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/text.hpp"
#include "replay/joined.hpp"
#include "replay/what_if.hpp"

namespace evictd::replay {
namespace {

std::size_t eviction_count(const Decision& decision) {
    return (decision.evict ? 1U : 0U) + decision.limit_evictions.size() + decision.rejections.size();
}

std::string threshold_text(const MetThreshold& met) {
    return std::string(name(met.threshold.signal)) + (met.threshold.hard() ? " (hard)" : " (soft)");
}

std::string eviction_text(const Eviction& eviction, const Observation& observation) {
    const auto pod = printable(codec::pod_name(eviction.pod, observation));
    if (!eviction.rejected_for.empty()) return "rejects " + pod;
    if (eviction.broken_limit) return "evicts " + pod + " for a storage limit of its own";
    return "evicts " + pod + " for " + std::string(name(eviction.threshold.threshold.signal)) + ", grace " +
           to_string(eviction.grace_period);
}

std::string count(std::size_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace

std::string course_text(const Decision& decision, const Observation& observation) {
    std::vector<std::string> parts;
    if (!decision.thresholds_met.empty()) parts.push_back(joined(decision.thresholds_met, threshold_text) + " met");
    if (!decision.conditions.empty())
        parts.push_back(joined(decision.conditions, [](Condition condition) { return name(condition); }));
    if (!decision.reclaim.empty())
        parts.push_back("reclaims " + joined(decision.reclaim, [](NodeReclaim reclaim) { return name(reclaim); }));
    for (const auto& eviction : decision.limit_evictions) parts.push_back(eviction_text(eviction, observation));
    for (const auto& eviction : decision.rejections) parts.push_back(eviction_text(eviction, observation));
    if (decision.evict) parts.push_back(eviction_text(*decision.evict, observation));
    std::string text;
    for (const auto& part : parts) text += (text.empty() ? "" : "; ") + part;
    return text.empty() ? "nothing to do" : text;
}

void Differences::look(const std::string& when, const Side& as_told, const Side& with, std::string& out) {
    ++looks_;
    evicted_as_told_ += eviction_count(as_told.decision);
    evicted_with_ += eviction_count(with.decision);
    if (same_course(as_told.decision, with.decision)) {
        tell_repeated(out);
        last_told_.clear();
        return;
    }
    ++differ_;
    if (first_.empty()) first_ = when;
    evictions_differ_ = evictions_differ_ || eviction_count(as_told.decision) + eviction_count(with.decision) > 0;
    tell(when, as_told, with, out);
    last_when_ = when;
}

void Differences::tell(const std::string& when, const Side& as_told, const Side& with, std::string& out) {
    if (format_ == Format::json) {
        out += R"({"without":)" + as_told.line + R"(,"with":)" + with.line + "}\n";
        return;
    }
    const auto width = std::max(as_told_.size(), with_.size()) + 2;
    const auto row = [&](const std::string& who, const Side& side) {
        return "  " + who + std::string(width - who.size(), ' ') + course_text(side.decision, side.observation) + "\n";
    };
    auto text = row(as_told_, as_told) + row(with_, with);
    const bool eventful = eviction_count(as_told.decision) + eviction_count(with.decision) > 0;
    if (!eventful && text == last_told_) {
        ++repeated_;
        return;
    }
    tell_repeated(out);
    out += when + "\n" + text;
    last_told_ = std::move(text);
}

void Differences::tell_repeated(std::string& out) {
    if (repeated_ > 0) out += "  and the same at " + count(repeated_, "more look") + ", until " + last_when_ + "\n";
    repeated_ = 0;
}

void Differences::summary(std::string& out) {
    if (format_ == Format::json) return;
    tell_repeated(out);
    out += (differ_ > 0 ? "\n" : "") + count(looks_, "look") + ", " + std::to_string(differ_) +
           (differ_ == 1 ? " differs" : " differ") + (first_.empty() ? "" : ", the first: " + first_) + ". " +
           count(evicted_as_told_, "eviction") + " " + as_told_ + ", " + std::to_string(evicted_with_) + " " + with_ +
           ".\n";
}

}  // namespace evictd::replay
