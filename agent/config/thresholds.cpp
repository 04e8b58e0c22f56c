// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// ParseThresholdConfig and what it calls. Maps have no order in Go: here a map's thresholds stand in the file's order.
#include "config/thresholds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

#include "config/go_float.hpp"
#include "evictd/model/quantity.hpp"
#include "evictd/model/signal.hpp"

namespace evictd::config {

namespace {

struct Wrong {
    std::string what;
    std::string remedy;
};
template <class T>
using Parsed = tl::expected<T, Wrong>;

tl::unexpected<Wrong> wrong(std::string what, std::string remedy) {
    return tl::unexpected(Wrong{std::move(what), std::move(remedy)});
}

struct Default {
    Signal signal;
    std::string_view value;
};
// DefaultEvictionHard of pkg/kubelet/eviction/defaults_linux.go.
constexpr std::array<Default, 5> default_hard{{
    {Signal::memory_available, "100Mi"},
    {Signal::nodefs_available, "10%"},
    {Signal::nodefs_inodes_free, "5%"},
    {Signal::imagefs_available, "15%"},
    {Signal::imagefs_inodes_free, "5%"},
}};

constexpr auto quantity_or_share =
    "expected a number with a suffix such as Ki, Mi, Gi, or a share of the capacity such as 10%";

// Long enough for every value that is meant, and to see what one was that is not.
std::string value_text(std::string_view text) { return excerpt(text, 200); }

std::optional<Signal> signal_of(const Value& setting) {
    const std::optional<Signal> signal = signal_from(setting.key());
    if (signal) return signal;
    std::array<std::string_view, signal_count> names;
    std::transform(signal_table.begin(), signal_table.end(), names.begin(), [](const auto& row) { return row.name; });
    setting.refuse("unsupported eviction signal " + excerpt(setting.key()),
                   document::did_you_mean(setting.key(), names));
    return std::nullopt;
}

// parsePercentage: the share, in the float32 the kubelet computes with. Upstream accepts NaN, which is neither above
// nor below any value, and an infinite minimum to reclaim. evictd refuses both as mistakes.
Parsed<float> parse_percentage(std::string_view text) {
    constexpr auto remedy = "a percentage such as 10%, or a quantity such as 100Mi";
    const std::size_t last = text.find_last_not_of('%');
    const std::string_view digits = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    const auto number = parse_go_float(digits);
    if (!number) return wrong(number.error(), remedy);
    if (std::isnan(*number)) {
        return wrong("strconv.ParseFloat: parsing " + go_quoted(digits) + ": invalid syntax", remedy);
    }
    return *number / 100;
}

Parsed<Quantity> parse_amount(std::string_view text) {
    const Result<Quantity> quantity = parse_quantity(text);
    if (quantity) return *quantity;
    return wrong(document::invalid_quantity(text), quantity_or_share);
}

// parseThresholdStatement. Nothing: the threshold is switched off.
Parsed<std::optional<ThresholdValue>> threshold_value(Signal signal, const std::string& text) {
    if (text == "0%" || text == "100%") return std::nullopt;
    if (text.ends_with('%')) {
        const Parsed<float> share = parse_percentage(text);
        if (!share) return tl::unexpected(share.error());
        const std::string start = "eviction percentage threshold " + std::string{name(signal)};
        if (*share < 0) return wrong(start + " must be >= 0%: " + value_text(text), "0% switches it off");
        if (*share > 1) return wrong(start + " must be <= 100%: " + value_text(text), "a percentage from 0% to 100%");
        return ThresholdValue{*share};
    }
    const Parsed<Quantity> quantity = parse_amount(text);
    if (!quantity) return tl::unexpected(quantity.error());
    if (quantity->sign() <= 0) {
        return wrong("eviction threshold " + std::string{name(signal)} + " must be positive: " + to_string(*quantity),
                     "0% switches it off");
    }
    return ThresholdValue{*quantity};
}

// parseMinimumReclaims, one entry.
Parsed<ThresholdValue> minimum_reclaim_value(Signal signal, const std::string& text) {
    if (text.ends_with('%')) {
        const Parsed<float> share = parse_percentage(text);
        if (!share) return tl::unexpected(share.error());
        if (std::isinf(*share) && *share > 0)
            return wrong("not a finite percentage: " + value_text(text), "such as 10%");
        if (*share <= 0) {
            return wrong("eviction percentage minimum reclaim " + std::string{name(signal)} +
                             " must be positive: " + value_text(text),
                         "leave the signal out for no minimum");
        }
        return ThresholdValue{*share};
    }
    const Parsed<Quantity> quantity = parse_amount(text);
    if (!quantity) return tl::unexpected(quantity.error());
    if (quantity->sign() < 0) {
        return wrong("negative eviction minimum reclaim specified for " + std::string{name(signal)}, "0 or more");
    }
    return ThresholdValue{*quantity};
}

struct Statement {
    Value setting;
    Threshold threshold;
};

// parseThresholdStatements.
std::vector<Statement> parse_statements(const std::optional<Value>& map) {
    std::vector<Statement> out;
    if (!map) return out;
    for (const Value& entry : map->fields()) {
        const std::optional<Signal> signal = signal_of(entry);
        const std::optional<std::string> text = signal ? entry.scalar() : std::nullopt;
        if (!text) continue;
        const auto value = threshold_value(*signal, *text);
        if (!value) {
            entry.refuse(value.error().what, value.error().remedy);
        } else if (*value) {
            out.push_back({entry, Threshold{*signal, **value, Duration::zero(), std::nullopt}});
        }
    }
    return out;
}

// parseGracePeriods. A refused one stands as zero, so that its threshold is not reported as being without.
std::map<Signal, Duration> parse_grace_periods(const std::optional<Value>& map) {
    std::map<Signal, Duration> out;
    if (!map) return out;
    for (const Value& entry : map->fields()) {
        const std::optional<Signal> signal = signal_of(entry);
        if (!signal) continue;
        const std::optional<Duration> period = entry.scalar() ? entry.duration() : std::nullopt;
        if (period && *period < Duration::zero()) {
            const std::string text = entry.scalar().value_or("");
            entry.refuse("invalid eviction grace period specified: " + value_text(text) + ", must be a positive value",
                         "0s or more, such as 90s");
        }
        out[*signal] = period.value_or(Duration::zero());
    }
    return out;
}

std::map<Signal, ThresholdValue> parse_minimum_reclaims(const std::optional<Value>& map) {
    std::map<Signal, ThresholdValue> out;
    if (!map) return out;
    for (const Value& entry : map->fields()) {
        const std::optional<Signal> signal = signal_of(entry);
        const std::optional<std::string> text = signal ? entry.scalar() : std::nullopt;
        if (!text) continue;
        const auto value = minimum_reclaim_value(*signal, *text);
        if (value) {
            out.emplace(*signal, *value);
        } else {
            entry.refuse(value.error().what, value.error().remedy);
        }
    }
    return out;
}

// What no setting names. Naming one signal, even to switch it off, drops the other defaults unless they are merged.
std::vector<Threshold> missing_defaults(const ThresholdSettings& settings) {
    std::vector<Threshold> out;
    if (settings.hard && !settings.merge_defaults) return out;
    const std::vector<Value> given = settings.hard ? settings.hard->fields() : std::vector<Value>{};
    for (const Default& row : default_hard) {
        const auto names_it = [&row](const Value& entry) { return entry.key() == name(row.signal); };
        if (std::any_of(given.begin(), given.end(), names_it)) continue;
        out.push_back({row.signal, **threshold_value(row.signal, std::string{row.value}), {}, std::nullopt});
    }
    return out;
}

// addAllocatableThresholds.
void add_allocatable_copies(std::vector<Threshold>& thresholds) {
    const std::size_t own = thresholds.size();
    for (std::size_t i = 0; i < own; ++i) {
        Threshold copy = thresholds[i];
        if (copy.signal != Signal::memory_available || !copy.hard()) continue;
        copy.signal = Signal::allocatable_memory_available;
        thresholds.push_back(copy);
    }
}

}  // namespace

std::vector<Threshold> parse_thresholds(const ThresholdSettings& settings) {
    std::vector<Threshold> out;
    for (const Statement& hard : parse_statements(settings.hard)) out.push_back(hard.threshold);
    for (const Threshold& missing : missing_defaults(settings)) out.push_back(missing);
    std::vector<Statement> soft = parse_statements(settings.soft);
    const std::map<Signal, Duration> periods = parse_grace_periods(settings.soft_grace_period);
    const std::map<Signal, ThresholdValue> minimums = parse_minimum_reclaims(settings.minimum_reclaim);
    for (Statement& statement : soft) {
        const std::string signal{name(statement.threshold.signal)};
        const auto period = periods.find(statement.threshold.signal);
        if (period == periods.end()) {
            statement.setting.refuse("grace period must be specified for the soft eviction threshold " + signal,
                                     "add " + signal + " to evictionSoftGracePeriod, such as 90s");
            continue;
        }
        statement.threshold.grace_period = period->second;
        out.push_back(statement.threshold);
    }
    for (Threshold& threshold : out) {
        const auto minimum = minimums.find(threshold.signal);
        if (minimum != minimums.end()) threshold.min_reclaim = minimum->second;
    }
    if (settings.pods_enforced) add_allocatable_copies(out);
    return out;
}

}  // namespace evictd::config
