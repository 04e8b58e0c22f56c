// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The kubelet's keys: ValidateKubeletConfiguration and SetDefaults_KubeletConfiguration for what evictd has a use for.
// Keys that only matter to node allocatable are checked here and kept nowhere yet.
#include "config/kubelet_settings.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "evictd/model/quantity.hpp"
#include "evictd/model/runtime_endpoint.hpp"

namespace evictd::config {

using document::did_you_mean;

namespace {

using namespace std::chrono_literals;

void read_api_version(const Value& setting, Draft&) {
    const auto version = setting.scalar();
    if (version && !version->starts_with("kubelet.config.k8s.io/")) {
        setting.refuse('"' + excerpt(*version) + "\" is not a kubelet configuration",
                       "kubelet.config.k8s.io/v1beta1, or leave it out");
    }
}

void read_kind(const Value& setting, Draft&) {
    const auto kind = setting.scalar();
    if (kind && *kind != "KubeletConfiguration") {
        setting.refuse('"' + excerpt(*kind) + "\" is not a configuration of evictd",
                       "KubeletConfiguration, or leave it out");
    }
}

void read_transition_period(const Value& setting, Draft& draft) {
    const auto period = setting.duration();
    if (!period) return;
    if (*period < 0s) setting.refuse("must not be negative: " + to_string(*period), "0s means the default, 5m");
    // SetDefaults_KubeletConfiguration takes zero for "not given".
    if (*period > 0s) draft.config.eviction.pressure_transition_period = *period;
}

void read_max_pod_grace_period(const Value& setting, Draft& draft) {
    using Limits = std::numeric_limits<std::int32_t>;
    const auto seconds = setting.integer(Limits::min(), Limits::max());
    if (seconds) draft.config.eviction.max_pod_grace_period = std::chrono::seconds(*seconds);
}

void read_merge_defaults(const Value& setting, Draft& draft) {
    draft.thresholds.merge_defaults = setting.boolean().value_or(false);
}

void read_local_storage_isolation(const Value& setting, Draft& draft) {
    draft.config.eviction.local_storage_isolation = setting.boolean().value_or(true);
}

// The kubelet's validation of enforceNodeAllocatable.
void read_enforce_node_allocatable(const Value& setting, Draft& draft) {
    constexpr std::array<std::string_view, 6> known{"none",
                                                    "pods",
                                                    "system-reserved",
                                                    "system-reserved-compressible",
                                                    "kube-reserved",
                                                    "kube-reserved-compressible"};
    const std::string option_name = "enforceNodeAllocatable (--enforce-node-allocatable)";
    std::vector<std::string> options;
    for (const Value& item : setting.elements()) {
        const auto option = item.scalar();
        if (!option) continue;
        if (std::find(known.begin(), known.end(), *option) == known.end()) {
            item.refuse("invalid configuration: option \"" + excerpt(*option) + "\" specified for " + option_name,
                        did_you_mean(*option, known));
        } else if (std::find(options.begin(), options.end(), *option) != options.end()) {
            item.refuse("invalid configuration: duplicated enforcements \"" + *option + "\" in " + option_name,
                        "keep one");
        }
        options.push_back(*option);
    }
    const bool none = std::find(options.begin(), options.end(), "none") != options.end();
    if (none && options.size() > 1) {
        setting.refuse("invalid configuration: " + option_name +
                           " may not contain additional enforcements when \"none\" is specified",
                       "keep none or the others");
    }
    draft.config.enforce_node_allocatable = std::move(options);
}

void read_cgroup_driver(const Value& setting, Draft& draft) {
    const auto driver = setting.scalar();
    if (!driver) return;
    if (!driver->empty() && *driver != "systemd" && *driver != "cgroupfs") {
        setting.refuse('"' + excerpt(*driver) + "\" is not a cgroup driver",
                       "systemd, cgroupfs, or leave it out: it is found by looking");
    }
    draft.config.cgroup_driver = *driver;
}

// A path below every hierarchy's mount point. Not a way out of it: what evictd kills is below this.
void read_cgroup_root(const Value& setting, Draft& draft) {
    const auto root = setting.scalar();
    if (!root) return;
    const std::string path = root->starts_with('/') ? *root : "/" + *root;
    if ((path + "/").find("/../") != std::string::npos || path.find('\0') != std::string::npos) {
        setting.refuse('"' + excerpt(*root) + "\" leaves the cgroup hierarchy", "a path below it, such as /");
    }
    draft.config.cgroup_root = path;
}

void read_static_pod_path(const Value& setting, Draft& draft) {
    draft.config.static_pod_path = setting.scalar().value_or("");
}

void read_runtime_endpoint(const Value& setting, Draft& draft) {
    const auto endpoint = setting.scalar();
    if (!endpoint || endpoint->empty()) return;
    if (!runtime_socket(*endpoint)) {
        return setting.refuse(in_quotes(*endpoint) + " is no Unix socket", std::string(runtime_endpoint_expected));
    }
    draft.config.container_runtime_endpoint = *endpoint;
}

// It is walked, and what is below it may be removed.
void read_pod_logs_dir(const Value& setting, Draft& draft) {
    const auto path = setting.scalar();
    if (!path || path->empty()) return;
    const bool plain = path->starts_with('/') && path->size() > 1 && (*path + "/").find("/../") == std::string::npos &&
                       path->find('\0') == std::string::npos;
    if (!plain) {
        return setting.refuse('"' + excerpt(*path) + "\" is not the directory of pods' logs",
                              "an absolute path, such as /var/log/pods");
    }
    draft.config.pod_logs_dir = *path;
}

// What the kernel's OOM killer takes with a victim is the kubelet's to set (memory.oom.group); here it is only checked.
void read_single_process_oom_kill(const Value& setting, Draft&) { (void)setting.boolean(); }

// parseResourceList of cmd/kubelet/app/server.go.
void read_reserved(const Value& setting, Draft&) {
    constexpr std::array<std::string_view, 4> known{"cpu", "memory", "ephemeral-storage", "pid"};
    for (const Value& entry : setting.fields()) {
        const auto text = entry.scalar();
        if (std::find(known.begin(), known.end(), entry.key()) == known.end()) {
            entry.refuse("cannot reserve \"" + excerpt(entry.key()) + "\" resource", did_you_mean(entry.key(), known));
            continue;
        }
        if (!text) continue;
        const auto quantity = parse_quantity(*text);
        if (!quantity) {
            entry.refuse(document::invalid_quantity(*text), std::string(document::quantity_expected));
        } else if (quantity->sign() < 0) {
            entry.refuse("resource quantity for \"" + entry.key() + "\" cannot be negative: " + to_string(*quantity),
                         "0 or more");
        }
    }
}

template <std::optional<Value> ThresholdSettings::*member>
void keep_thresholds(const Value& setting, Draft& draft) {
    draft.thresholds.*member = setting;
}

template <std::optional<Value> Draft::*member>
void keep(const Value& setting, Draft& draft) {
    draft.*member = setting;
}

constexpr std::array<KubeletSetting, 23> all_kubelet_settings{{
    {"apiVersion", read_api_version},
    {"kind", read_kind},
    {"evictionHard", keep_thresholds<&ThresholdSettings::hard>},
    {"evictionSoft", keep_thresholds<&ThresholdSettings::soft>},
    {"evictionSoftGracePeriod", keep_thresholds<&ThresholdSettings::soft_grace_period>},
    {"evictionMinimumReclaim", keep_thresholds<&ThresholdSettings::minimum_reclaim>},
    {"evictionPressureTransitionPeriod", read_transition_period},
    {"evictionMaxPodGracePeriod", read_max_pod_grace_period},
    {"mergeDefaultEvictionSettings", read_merge_defaults},
    {"localStorageCapacityIsolation", read_local_storage_isolation},
    {"enforceNodeAllocatable", read_enforce_node_allocatable},
    {"cgroupDriver", read_cgroup_driver},
    {"cgroupRoot", read_cgroup_root},
    {"staticPodPath", read_static_pod_path},
    {"containerRuntimeEndpoint", read_runtime_endpoint},
    {"podLogsDir", read_pod_logs_dir},
    {"singleProcessOOMKill", read_single_process_oom_kill},
    {"systemReserved", read_reserved},
    {"kubeReserved", read_reserved},
    {"imageGCHighThresholdPercent", keep<&Draft::image_gc_high>},
    {"imageGCLowThresholdPercent", keep<&Draft::image_gc_low>},
    {"imageMinimumGCAge", keep<&Draft::image_minimum_age>},
    {"imageMaximumGCAge", keep<&Draft::image_maximum_age>},
}};

using Limits32 = std::numeric_limits<std::int32_t>;

// NewImageGCManager's check of its policy.
std::optional<std::int64_t> image_gc_percent(const std::optional<Value>& setting, std::int64_t otherwise,
                                             std::string_view called) {
    if (!setting) return otherwise;
    const auto percent = setting->integer(Limits32::min(), Limits32::max());
    if (!percent || (*percent >= 0 && *percent <= 100)) return percent;
    setting->refuse(fmt::format("invalid {} {}, must be in range [0-100]", called, *percent), "0 to 100");
    return std::nullopt;
}

void read_image_gc_percents(Draft& draft) {
    ImageGcPolicy& policy = draft.config.eviction.garbage.image_gc;
    const auto high = image_gc_percent(draft.image_gc_high, policy.high_threshold_percent, "HighThresholdPercent");
    const auto low = image_gc_percent(draft.image_gc_low, policy.low_threshold_percent, "LowThresholdPercent");
    if (!high || !low) return;
    if (*low > *high) {
        const Value& named = draft.image_gc_low ? *draft.image_gc_low : *draft.image_gc_high;
        named.refuse(fmt::format("LowThresholdPercent {} can not be higher than HighThresholdPercent {}", *low, *high),
                     "without being given they are 80 and 85");
    }
    policy.high_threshold_percent = static_cast<int>(*high);
    policy.low_threshold_percent = static_cast<int>(*low);
}

std::optional<Duration> image_age(const std::optional<Value>& setting, Duration otherwise) {
    if (!setting) return otherwise;
    const auto age = setting->duration();
    if (!age || *age >= 0s) return age;
    setting->refuse("must not be negative: " + to_string(*age), "0s or more");
    return std::nullopt;
}

// SetDefaults_KubeletConfiguration takes zero for "not given"; a percentage of zero is one.
void read_image_ages(Draft& draft) {
    ImageGcPolicy& policy = draft.config.eviction.garbage.image_gc;
    const auto least = image_age(draft.image_minimum_age, 0s);
    const auto most = image_age(draft.image_maximum_age, policy.max_age);
    if (!least || !most) return;
    if (*least > 0s) policy.min_age = *least;
    policy.max_age = *most;
    if (policy.max_age == 0s || policy.max_age > policy.min_age) return;
    draft.image_maximum_age->refuse("invalid configuration: imageMaximumGCAge " + to_string(policy.max_age) +
                                        " must be greater than imageMinimumGCAge " + to_string(policy.min_age),
                                    "0s switches it off");
}

}  // namespace

std::span<const KubeletSetting> kubelet_settings() { return all_kubelet_settings; }

void finish(Draft& draft) {
    const std::vector<std::string>& enforced = draft.config.enforce_node_allocatable;
    draft.thresholds.pods_enforced = std::find(enforced.begin(), enforced.end(), "pods") != enforced.end();
    draft.config.eviction.thresholds = parse_thresholds(draft.thresholds);
    draft.config.warnings = threshold_warnings(draft.thresholds, draft.config.eviction.thresholds);
    read_image_gc_percents(draft);
    read_image_ages(draft);
}

}  // namespace evictd::config
