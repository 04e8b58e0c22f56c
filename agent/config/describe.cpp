// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The table of thresholds, the two periods, and evictd's own settings as far as they are not the defaults.
#include "config/describe.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "config/agent_settings.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/text.hpp"

namespace evictd::config {
namespace {

using Row = std::array<std::string, 6>;

std::string percentage(float share) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g%%", static_cast<double>(share) * 100);
    return text.data();
}

std::string show(const ThresholdValue& value) {
    const auto* share = std::get_if<float>(&value.value);
    return share != nullptr ? percentage(*share) : to_string(std::get<Quantity>(value.value));
}

// addAllocatableThresholds puts its copies last, one for each hard memory.available.
std::size_t copies(const Config& config) {
    const auto& enforced = config.enforce_node_allocatable;
    if (std::find(enforced.begin(), enforced.end(), "pods") == enforced.end()) return 0;
    const auto& thresholds = config.eviction.thresholds;
    return static_cast<std::size_t>(std::count_if(thresholds.begin(), thresholds.end(), [](const Threshold& threshold) {
        return threshold.signal == Signal::memory_available && threshold.hard();
    }));
}

std::vector<Row> rows(const Config& config) {
    std::vector<Row> out{{"SIGNAL", "KIND", "VALUE", "GRACE", "MIN RECLAIM", "COPIED FROM"}};
    const auto& thresholds = config.eviction.thresholds;
    const std::size_t own = thresholds.size() - std::min(copies(config), thresholds.size());
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
        const Threshold& threshold = thresholds[i];
        out.push_back({std::string{name(threshold.signal)}, threshold.hard() ? "hard" : "soft", show(threshold.value),
                       threshold.hard() ? "-" : to_string(threshold.grace_period),
                       threshold.min_reclaim ? show(*threshold.min_reclaim) : "-", i < own ? "-" : "memory.available"});
    }
    return out;
}

std::string table(const std::vector<Row>& rows, bool colour) {
    std::array<std::size_t, std::tuple_size_v<Row>> widths{};
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), row.at(i).size());
    }
    std::string out;
    for (std::size_t line = 0; line < rows.size(); ++line) {
        std::string text;
        for (std::size_t i = 0; i < rows[line].size(); ++i) {
            text += rows[line].at(i) + std::string(widths.at(i) - rows[line].at(i).size() + 2, ' ');
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += colour && line == 0 ? "\x1b[1m" + text + "\x1b[0m\n" : text + "\n";
    }
    return out;
}

// What evictionMaxPodGracePeriod means for a pod: see killPodNow and calculateEffectiveGracePeriod.
std::string soft_grace(const EvictionConfig& config) {
    const std::chrono::seconds longest = config.max_pod_grace_period;
    if (longest.count() > 0) return "at most " + to_string(Duration{longest}) + " for a pod";
    if (config.soft_eviction_grace == SoftEvictionGrace::pod) return "the pod's own terminationGracePeriodSeconds";
    return longest.count() == 0 ? "1s (no evictionMaxPodGracePeriod)" : "1s (a negative maximum)";
}

// What UpdateContainerFsThresholds says once the kubelet knows its filesystems, in its words.
std::string containerfs_notes(const Config& config) {
    std::string out;
    for (const Threshold& threshold : config.eviction.thresholds) {
        const bool overwritten =
            threshold.signal == Signal::containerfs_available || threshold.signal == Signal::containerfs_inodes_free;
        if (!overwritten) continue;
        out += "note: found " + std::string{name(threshold.signal)} + " for " + (threshold.hard() ? "hard" : "soft") +
               " eviction. ignoring (it is made from nodefs or imagefs)\n";
    }
    return out;
}

std::string signals_of(const Config& config, Condition condition) {
    std::vector<std::string_view> names;
    for (const Threshold& threshold : config.eviction.thresholds) {
        const std::string_view signal = name(threshold.signal);
        const bool is_named = std::find(names.begin(), names.end(), signal) != names.end();
        if (traits(threshold.signal).condition == condition && !is_named) names.push_back(signal);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

// The kubelet's file names them by default.
std::string note_of_signals_left_out(const Config& config) {
    const std::string disks = config.agent.disks ? std::string{} : signals_of(config, Condition::disk_pressure);
    return disks.empty() ? disks : "note: evictd run does not act on " + disks + ", because evictd.disks is off\n";
}

// A file that names any signal has none of the kubelet's default thresholds.
std::string note_of_no_memory(const Config& config) {
    const auto& thresholds = config.eviction.thresholds;
    const bool any = std::any_of(thresholds.begin(), thresholds.end(),
                                 [](const Threshold& threshold) { return is_memory(threshold.signal); });
    return any || thresholds.empty()
               ? std::string{}
               : "note: there is no threshold on memory: evictd evicts no pod for memory.available\n";
}

std::string image_gc(const ImageGcPolicy& policy) {
    std::string out = fmt::format("above {}% down to {}%, images of {} and older", policy.high_threshold_percent,
                                  policy.low_threshold_percent, to_string(policy.min_age));
    return policy.max_age > Duration::zero() ? out + ", all unused for " + to_string(policy.max_age) : out;
}

std::string line(std::string_view title, const std::string& value, bool colour) {
    constexpr std::size_t width = 30;
    const std::string padded = std::string{title} + std::string(width - std::min(width, title.size()), ' ');
    return (colour ? "\x1b[1m" + padded + "\x1b[0m" : padded) + " " + value + "\n";
}

}  // namespace

std::string describe(const Config& config, bool colour) {
    std::string out = line("configuration", config.file.empty() ? "built-in defaults" : excerpt(config.file), colour);
    out += "\n";
    const bool none = config.eviction.thresholds.empty() && config.eviction.stalls.empty();
    out += none ? std::string{"no thresholds: nothing is ever evicted for pressure\n"} : table(rows(config), colour);
    out += containerfs_notes(config);
    out += note_of_signals_left_out(config);
    out += note_of_no_memory(config);
    for (const std::string& warning : config.warnings) out += "warning: " + warning + "\n";
    out += "\n";
    out += line("conditions stay for", to_string(config.eviction.pressure_transition_period), colour);
    out += line("grace of soft evictions", soft_grace(config.eviction), colour);
    if (!config.eviction.local_storage_isolation) out += line("localStorageCapacityIsolation", "false", colour);
    out += line("image garbage collection", image_gc(config.eviction.garbage.image_gc), colour);
    if (config.cgroup_root != "/") out += line("cgroupRoot", excerpt(config.cgroup_root), colour);
    if (!config.cgroup_driver.empty()) out += line("cgroupDriver", config.cgroup_driver, colour);
    if (!config.static_pod_path.empty()) out += line("staticPodPath", excerpt(config.static_pod_path), colour);
    const Config stock;
    for (const AgentSetting& setting : agent_settings()) {
        const std::string value = setting.show(config);
        if (value == setting.show(stock)) continue;
        out += line("evictd." + std::string{setting.name}, value.empty() ? "(none)" : value, colour);
    }
    return out;
}

}  // namespace evictd::config
