// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "config/thresholds.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/signal.hpp"

namespace evictd::config {
namespace {

using Map = std::optional<Value>;

std::vector<Value> entries(const Map& map) { return map ? map->fields() : std::vector<Value>{}; }

const Threshold* find(const std::vector<Threshold>& thresholds, std::string_view signal, bool hard) {
    const auto found = std::find_if(thresholds.begin(), thresholds.end(), [&](const Threshold& threshold) {
        return name(threshold.signal) == signal && (threshold.grace_period == Duration::zero()) == hard;
    });
    return found == thresholds.end() ? nullptr : &*found;
}

// Amounts and shares do not compare without a capacity.
bool is_above(const ThresholdValue& a, const ThresholdValue& b) {
    const auto* amount = std::get_if<Quantity>(&a.value);
    const auto* other = std::get_if<Quantity>(&b.value);
    if ((amount == nullptr) != (other == nullptr)) return true;
    return amount != nullptr ? *amount > *other : std::get<float>(a.value) > std::get<float>(b.value);
}

void warn_of_soft_below_hard(const ThresholdSettings& settings, const std::vector<Threshold>& thresholds,
                             std::vector<std::string>& warnings) {
    for (const Value& entry : entries(settings.soft)) {
        const Threshold* soft = find(thresholds, entry.key(), false);
        const Threshold* hard = find(thresholds, entry.key(), true);
        if (soft == nullptr || hard == nullptr || is_above(soft->value, hard->value)) continue;
        warnings.push_back(entry
                               .remark("the soft threshold is not above the hard one, which evicts first",
                                       "a soft threshold above the hard one")
                               .text());
    }
}

void warn_of_unused_periods(const ThresholdSettings& settings, std::vector<std::string>& warnings) {
    const auto soft = entries(settings.soft);
    for (const Value& entry : entries(settings.soft_grace_period)) {
        const auto same = [&](const Value& one) { return one.key() == entry.key(); };
        if (std::any_of(soft.begin(), soft.end(), same)) continue;
        warnings.push_back(entry
                               .remark("a grace period without its soft threshold has no effect",
                                       "add " + excerpt(entry.key()) + " to evictionSoft, or remove it")
                               .text());
    }
}

// The kubelet's parseThresholdStatement ignores "0%" and "100%". "0%" is the documented way to switch a default off;
// "100%" is usually a mistake.
void warn_of_ignored_thresholds(const Map& map, std::vector<std::string>& warnings) {
    for (const Value& entry : entries(map)) {
        if (entry.scalar() != "100%") continue;
        warnings.push_back(entry
                               .remark("100% sets no threshold: the kubelet and evictd ignore it",
                                       "0% to switch it off, or a lower percentage")
                               .text());
    }
}

// None: a share, or nothing that can be read.
std::optional<Quantity> quantity_in(const Value& entry) {
    const auto text = entry.scalar();
    const auto quantity = text ? parse_quantity(*text) : fail(ErrorKind::invalid, "", "");
    return quantity ? std::optional(*quantity) : std::nullopt;
}

void warn_of_capped(const Map& map, std::vector<std::string>& warnings) {
    for (const Value& entry : entries(map)) {
        const auto quantity = quantity_in(entry);
        if (!quantity || quantity->value() < std::numeric_limits<std::int64_t>::max()) continue;
        warnings.push_back(
            entry.remark("more than 64 bits hold: it counts as 2^63-1", "a quantity such as 100Mi").text());
    }
}

bool in_bytes(Signal signal) { return is_memory(signal) || traits(signal).resource == "ephemeral-storage"; }

// A forgotten unit.
void warn_of_tiny(const Map& map, std::vector<std::string>& warnings) {
    constexpr std::int64_t least = (1_MiB).value;
    for (const Value& entry : entries(map)) {
        const auto signal = signal_from(entry.key());
        if (!signal || !in_bytes(*signal)) continue;
        const auto quantity = quantity_in(entry);
        if (!quantity || quantity->sign() <= 0 || quantity->value() >= least) continue;
        warnings.push_back(
            entry
                .remark("it is in bytes, and less than 1Mi: it is met when nothing is left", "a quantity such as 100Mi")
                .text());
    }
}

}  // namespace

std::vector<std::string> threshold_warnings(const ThresholdSettings& settings,
                                            const std::vector<Threshold>& thresholds) {
    std::vector<std::string> warnings;
    warn_of_soft_below_hard(settings, thresholds, warnings);
    warn_of_unused_periods(settings, warnings);
    for (const Map& map : {settings.hard, settings.soft}) warn_of_ignored_thresholds(map, warnings);
    for (const Map& map : {settings.hard, settings.soft, settings.minimum_reclaim}) warn_of_capped(map, warnings);
    for (const Map& map : {settings.hard, settings.soft}) warn_of_tiny(map, warnings);
    return warnings;
}

}  // namespace evictd::config
