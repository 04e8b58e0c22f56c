// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "replay/signals_text.hpp"

#include <algorithm>

#include "codec/text_table.hpp"
#include "evictd/model/text.hpp"
#include "policy/thresholds.hpp"

namespace evictd::replay {
namespace {

using codec::Cell;
using codec::Tone;

Cell cell(std::string text, Tone tone = Tone::plain) { return {std::move(text), tone, std::nullopt}; }

const MetThreshold* find(const std::vector<MetThreshold>& list, const Threshold& threshold) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const MetThreshold& met) { return met.threshold == threshold; });
    return found == list.end() ? nullptr : &*found;
}

// Those configured, and those derived from them as far as they are met.
std::vector<Threshold> shown_thresholds(const EvictionConfig& config, const Decision& decision) {
    std::vector<Threshold> shown = config.thresholds;
    for (const auto* list : {&decision.thresholds_met, &decision.thresholds_pending}) {
        for (const MetThreshold& met : *list) {
            if (std::find(shown.begin(), shown.end(), met.threshold) == shown.end()) shown.push_back(met.threshold);
        }
    }
    return shown;
}

std::string since(const MetThreshold& met, MonotonicTime now) {
    return now > met.first_observed_at ? " for " + span_text(now - met.first_observed_at) : "";
}

std::vector<Cell> row_of(const Threshold& threshold, const Reading& reading, const StepResult& result) {
    const Signal signal = threshold.signal;
    const MetThreshold* met = find(result.decision.thresholds_met, threshold);
    const MetThreshold* pending = find(result.decision.thresholds_pending, threshold);
    const Tone tone = met != nullptr ? Tone::red : pending != nullptr ? Tone::yellow : Tone::green;
    const auto used = [&](std::int64_t left) {
        const auto capacity = static_cast<double>(std::max<std::int64_t>(reading.capacity.value, 1));
        return std::clamp(1 - static_cast<double>(left) / capacity, 0.0, 1.0);
    };
    const std::int64_t quantity = policy::resolve(threshold.value, reading.capacity).value();
    const codec::Bar bar{used(reading.available.value), {used(quantity)}, tone};
    std::string evicts_below = amount_text(signal, Amount{quantity});
    if (!threshold.hard()) evicts_below += " for " + span_text(threshold.grace_period);
    const std::string state = met != nullptr       ? "MET" + since(*met, result.observation.at)
                              : pending != nullptr ? "PENDING" + since(*pending, result.observation.at)
                                                   : "ok";
    return {cell(std::string(name(signal))),
            {"", Tone::plain, bar},
            cell(amount_text(signal, reading.available)),
            cell(amount_text(signal, reading.capacity)),
            cell(evicts_below),
            cell(state, tone)};
}

}  // namespace

std::string signals_text(const EvictionConfig& config, const StepResult& result, const codec::TextStyle& style) {
    using codec::Fit;
    codec::Table table({{"SIGNAL", Fit::left},
                        {"USED", Fit::bar},
                        {"AVAILABLE", Fit::right},
                        {"CAPACITY", Fit::right},
                        {"EVICTS BELOW", Fit::left},
                        {"STATE", Fit::left}});
    for (const Threshold& threshold : shown_thresholds(config, result.decision)) {
        const auto& reading = result.observation.readings[static_cast<std::size_t>(threshold.signal)];
        if (reading) table.add(row_of(threshold, *reading, result));
    }
    return table.empty() ? "" : table.text(style);
}

}  // namespace evictd::replay
