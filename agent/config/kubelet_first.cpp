// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "config/kubelet_first.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "evictd/model/quantity.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd::config {
namespace {

std::string text_of(const ThresholdValue& value) {
    const auto* share = std::get_if<float>(&value.value);
    return share != nullptr ? fmt::format("{:.6g}%", static_cast<double>(*share) * 100)
                            : to_string(std::get<Quantity>(value.value));
}

// Negative: `a` is reached later than `b`, because it is lower. None: they do not compare.
std::optional<int> compare(const ThresholdValue& a, const ThresholdValue& b, const std::optional<Amount>& capacity) {
    const auto order = [](const auto& mine, const auto& other) { return mine < other ? -1 : other < mine ? 1 : 0; };
    if (a.is_percentage() != b.is_percentage()) {
        if (!capacity) return std::nullopt;
        return order(quantity_of(a, *capacity).value, quantity_of(b, *capacity).value);
    }
    if (a.is_percentage()) return order(std::get<float>(a.value), std::get<float>(b.value));
    return order(std::get<Quantity>(a.value), std::get<Quantity>(b.value));
}

// Whether `own` evicts no later than `theirs`, or that cannot be said.
bool is_in_time(const Threshold& own, const Threshold& theirs, const std::optional<Amount>& capacity) {
    if (own.signal != theirs.signal || own.time_left != Duration::zero()) return false;
    const auto order = compare(own.value, theirs.value, capacity);
    return !order || (*order >= 0 && own.grace_period <= theirs.grace_period);
}

}  // namespace

std::vector<std::string> kubelet_acts_first(const EvictionConfig& own, const EvictionConfig& kubelet,
                                            const CapacityOf& capacity_of) {
    std::vector<std::string> sentences;
    for (const auto& theirs : kubelet.thresholds) {
        const auto capacity = capacity_of(theirs.signal);
        const auto in_time = [&](const Threshold& mine) { return is_in_time(mine, theirs, capacity); };
        if (std::any_of(own.thresholds.begin(), own.thresholds.end(), in_time)) continue;
        const bool has_any = std::any_of(own.thresholds.begin(), own.thresholds.end(),
                                         [&](const Threshold& mine) { return mine.signal == theirs.signal; });
        sentences.push_back("the kubelet evicts for " + std::string(name(theirs.signal)) + " below " +
                            text_of(theirs.value) + (theirs.hard() ? "" : " for " + to_string(theirs.grace_period)) +
                            (has_any ? ", evictd only later" : ", evictd has no threshold on it"));
    }
    return sentences;
}

}  // namespace evictd::config
