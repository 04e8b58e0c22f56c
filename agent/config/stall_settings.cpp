// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "config/stall_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace evictd::config {
namespace {

// As many lines as the kernel compares, less the one that confirmPressure takes.
constexpr std::size_t most_thresholds = 15;
// A threshold with a longer grace period would hardly differ from one that is switched off.
constexpr Duration longest_grace = std::chrono::hours(1);

template <class E, std::size_t count>
void read_word(const Value& setting, const std::array<E, count>& values, E& value) {
    std::array<std::pair<std::string_view, E>, count> words;
    std::transform(values.begin(), values.end(), words.begin(), [](E one) { return std::pair{name(one), one}; });
    value = setting.one_of(words).value_or(value);
}

// "10%", "0.5%": from a hundredth of a percent to the whole. More digits than two are more than can be measured.
void read_share(const Value& setting, StallThreshold& threshold) {
    const auto text = setting.scalar();
    if (!text) return;
    double percent = 0;
    const char* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, percent, std::chars_format::fixed);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr + 1 == end && *parsed.ptr == '%';
    const auto hundredths = whole && std::abs(percent) < 1000 ? std::lround(percent * 100) : 0;
    if (!whole) {
        setting.refuse("invalid share " + in_quotes(*text), "expected a percentage such as 10% or 0.5%");
    } else if (hundredths < 1 || hundredths > whole_share) {
        setting.refuse("out of range: " + excerpt(*text), "0.01% to 100% of the window");
    } else {
        threshold.share = static_cast<std::int32_t>(hundredths);
    }
}

void read_grace(const Value& setting, StallThreshold& threshold) {
    const auto period = setting.duration();
    if (!period) return;
    if (*period < Duration::zero() || *period > longest_grace) {
        setting.refuse("out of range: " + to_string(*period), "0s (hard) to 1h");
    }
    threshold.grace_period = *period;
}

constexpr std::array<std::string_view, 6> keys{"resource", "kind", "scope", "share", "window", "gracePeriod"};

void read_key(const Value& setting, StallThreshold& threshold) {
    if (setting.key() == "resource") {
        read_word(setting, std::array{StallResource::memory, StallResource::io, StallResource::cpu},
                  threshold.resource);
    } else if (setting.key() == "kind") {
        read_word(setting, std::array{StallKind::some, StallKind::full}, threshold.kind);
    } else if (setting.key() == "scope") {
        read_word(setting, std::array{StallScope::node, StallScope::pod}, threshold.scope);
    } else if (setting.key() == "share") {
        read_share(setting, threshold);
    } else if (setting.key() == "window") {
        read_word(setting, std::array{StallWindow::tenth, StallWindow::second, StallWindow::ten_seconds},
                  threshold.window);
    } else if (setting.key() == "gracePeriod") {
        read_grace(setting, threshold);
    } else {
        setting.refuse_unknown("key", keys);
    }
}

StallThreshold read_threshold(const Value& item) {
    StallThreshold threshold;
    bool has_share = false;
    for (const Value& setting : item.fields()) {
        has_share = has_share || setting.key() == "share";
        if (setting.present()) read_key(setting, threshold);
    }
    if (!has_share) item.refuse("share is missing", "add one, such as share: 10%");
    if (threshold.scope == StallScope::pod && threshold.resource != StallResource::memory) {
        item.refuse("pods are watched for memory only", "scope: node, or resource: memory");
    }
    return threshold;
}

std::string share_text(std::int32_t share) {
    std::string text = std::to_string(share / 100);
    if (share % 100 != 0) text += "." + std::to_string(share % 100 + 100).substr(1);
    return text + "%";
}

}  // namespace

void read_stalls(const Value& setting, Config& config) {
    auto& stalls = config.eviction.stalls;
    stalls.clear();
    const auto items = setting.elements();
    if (items.size() > most_thresholds) {
        setting.refuse(std::to_string(items.size()) + " thresholds", "at most " + std::to_string(most_thresholds));
        return;
    }
    for (const Value& item : items) {
        const StallThreshold threshold = read_threshold(item);
        if (std::find(stalls.begin(), stalls.end(), threshold) != stalls.end()) {
            item.refuse("duplicate threshold", "remove one");
        }
        stalls.push_back(threshold);
    }
}

std::string say(const std::vector<StallThreshold>& thresholds) {
    std::string text;
    for (const auto& threshold : thresholds) {
        text += (text.empty() ? "" : "; ") + std::string{name(threshold.resource)} + " " +
                std::string{name(threshold.kind)} + " >= " + share_text(threshold.share) + " of " +
                std::string{name(threshold.window)} + (threshold.scope == StallScope::pod ? " in a pod" : "") +
                (threshold.hard() ? ", hard" : ", soft after " + to_string(threshold.grace_period));
    }
    return text;
}

std::string show_stalls(const Config& config) { return say(config.eviction.stalls); }

}  // namespace evictd::config
