// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files to settings, settings of several files to one list, the list to a Config.
#include "config/load.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/agent_settings.hpp"
#include "config/gc_settings.hpp"
#include "config/kubelet_settings.hpp"
#include "document/text_file.hpp"
#include "document/value.hpp"

namespace evictd::config {

using document::configuration_limits;
using document::Reading;

namespace {

struct Source {
    std::string name;
    std::string text;
    Dialect dialect;
    bool is_wrapped = false;  // below "kubeletconfig", as /configz has it
};

using NamedValues = std::vector<std::pair<std::string, Value>>;
struct Settings {
    NamedValues kubelet;
    NamedValues agent;  // by their dotted name below `evictd:`
};

bool is_kubelet_configuration(const std::vector<Value>& top) {
    return std::any_of(top.begin(), top.end(), [](const Value& setting) {
        return setting.key() == "kind" && setting.present() && setting.scalar() == "KubeletConfiguration";
    });
}

void refuse_unknown(const Value& setting) {
    std::vector<std::string_view> names{"evictd"};
    for (const KubeletSetting& row : kubelet_settings()) names.push_back(row.name);
    std::string belongs = where_it_belongs(setting.key());
    if (belongs.empty()) {
        belongs = document::did_you_mean(setting.key(), names,
                                         "other kubelet keys are ignored with kind: KubeletConfiguration");
    }
    setting.refuse_unknown("key", names, std::move(belongs));
}

// What is new goes to the end.
void put(NamedValues& settings, const std::string& name, const Value& setting) {
    if (!setting.present()) return;
    const auto found =
        std::find_if(settings.begin(), settings.end(), [&](const auto& old) { return old.first == name; });
    if (found == settings.end()) {
        settings.emplace_back(name, setting);
    } else {
        found->second = setting;
    }
}

// A reply of another kind is a fault: an empty configuration would stand for the kubelet's defaults.
void add_source(const Value& document, Dialect dialect, Settings& settings);
void add_wrapped(const Value& document, Settings& settings) {
    for (const Value& inner : document.fields()) {
        if (inner.key() == "kubeletconfig") return add_source(inner, Dialect::kubelet, settings);
    }
    document.refuse("has no kubeletconfig", "the reply of a kubelet to GET /configz");
}

void add_source(const Value& document, Dialect dialect, Settings& settings) {
    const std::vector<Value> top = document.fields();
    const bool foreign_keys = dialect == Dialect::kubelet || is_kubelet_configuration(top);
    const auto rows = kubelet_settings();
    for (const Value& setting : top) {
        const auto is_it = [&setting](const KubeletSetting& row) { return row.name == setting.key(); };
        if (setting.key() == "evictd") {
            for (const auto& [name, own] : flatten_agent_settings(setting)) put(settings.agent, name, own);
        } else if (std::any_of(rows.begin(), rows.end(), is_it)) {
            put(settings.kubelet, setting.key(), setting);
        } else if (!foreign_keys && !setting.reading().is_full()) {
            refuse_unknown(setting);
        }
    }
}

bool has_disk_threshold(const Config& config) {
    const auto& thresholds = config.eviction.thresholds;
    return std::any_of(thresholds.begin(), thresholds.end(), [](const Threshold& threshold) {
        return traits(threshold.signal).condition == Condition::disk_pressure;
    });
}

void warn_of_disk_settings(const Settings& settings, Config& config) {
    const auto& garbage = config.eviction.garbage;
    for (const auto& [name, setting] : settings.agent) {
        const bool needs_disks =
            (name == "gc.orphans" && garbage.orphans != Orphans::off) || (name == "gc.routine" && garbage.routine) ||
            (name == "timeToExhaustion.diskSoft" && config.eviction.disk_time_to_exhaustion > Duration::zero());
        if (needs_disks && !config.agent.disks) {
            config.warnings.push_back(
                setting.remark("has no effect without evictd.disks", "set evictd.disks: true").text());
        }
        if (name == "timeToExhaustion.diskSoft" && config.agent.disks && !has_disk_threshold(config)) {
            config.warnings.push_back(setting
                                          .remark("has no effect without a threshold on a filesystem",
                                                  "set one, such as evictionHard: {nodefs.available: 10%}")
                                          .text());
        }
        if (name != "gc.keepImages") continue;
        for (auto& warning : keep_images_warnings(setting)) config.warnings.push_back(std::move(warning));
    }
}

// A grace period begins when the threshold is met, so less is left then than its time.
void warn_of_exhaustion_settings(const Settings& settings, Config& config) {
    const auto& eviction = config.eviction;
    const std::array checks{std::tuple("timeToExhaustion.soft", eviction.time_to_exhaustion,
                                       eviction.time_to_exhaustion_grace_period, "softGracePeriod"),
                            std::tuple("timeToExhaustion.diskSoft", eviction.disk_time_to_exhaustion,
                                       eviction.disk_time_to_exhaustion_grace_period, "diskSoftGracePeriod")};
    for (const auto& [name, setting] : settings.agent) {
        for (const auto& [time_name, time, grace_period, period_name] : checks) {
            if (name != time_name || time == Duration::zero() || grace_period < time) continue;
            config.warnings.push_back(
                setting
                    .remark("evicts too late: nothing is left before its grace period of " + to_string(grace_period) +
                                " ends",
                            "make it longer than evictd.timeToExhaustion." + std::string(period_name))
                    .text());
        }
    }
}

Config read(const Settings& settings) {
    Draft draft;
    for (const auto& [name, setting] : settings.kubelet) {
        for (const KubeletSetting& row : kubelet_settings()) {
            if (row.name == name) row.read(setting, draft);
        }
    }
    for (const auto& [name, setting] : settings.agent) {
        for (const AgentSetting& row : agent_settings()) {
            if (row.name == name) row.read(setting, draft.config);
        }
    }
    finish(draft);
    warn_of_disk_settings(settings, draft.config);
    warn_of_exhaustion_settings(settings, draft.config);
    return draft.config;
}

// Faults come in the order in which the files were named and are read.
ConfigOutcome load_sources(const std::vector<Source>& sources, const Faults& unread) {
    std::list<Reading> readings;
    Settings settings;
    for (const Source& source : sources) {
        auto& reading =
            readings.emplace_back(document::parse_one(source.text, source.name, configuration_limits), source.name);
        if (source.is_wrapped) {
            add_wrapped(reading.root(), settings);
        } else {
            add_source(reading.root(), source.dialect, settings);
        }
    }
    Config config = read(settings);
    for (const Source& source : sources) config.file += (config.file.empty() ? "" : ", ") + source.name;
    Faults faults;
    for (Reading& reading : readings) {
        Faults found = reading.take_faults();
        faults.insert(faults.end(), found.begin(), found.end());
    }
    faults.insert(faults.end(), unread.begin(), unread.end());
    if (faults.empty()) return config;
    if (faults.size() >= document::max_faults) {
        faults.resize(document::max_faults);
        faults.push_back({faults.back().file, 0, 0, {}, "there may be more faults than these", "mend these first"});
    }
    return tl::unexpected(std::move(faults));
}

}  // namespace

Config load(const Value& settings) {
    Settings single;
    add_source(settings, Dialect::evictd, single);
    return read(single);
}

ConfigOutcome load(std::string_view text, std::string file_name, Dialect dialect) {
    return load_sources({{std::move(file_name), std::string{text}, dialect}}, {});
}

ConfigOutcome load_file(const std::filesystem::path& path, Dialect dialect) {
    return dialect == Dialect::kubelet ? load_files(path, std::nullopt) : load_files(std::nullopt, path);
}

// A share of 0 % is no threshold, as for the kubelet (parseThresholdStatements).
KubeletText unknown_kubelet() {
    return {.name = "the kubelet's unknown configuration",
            .text = R"({"kubeletconfig":{"evictionHard":{"memory.available":"100Mi","nodefs.available":"0%",)"
                    R"("nodefs.inodesFree":"0%","imagefs.available":"0%","imagefs.inodesFree":"0%"}}})"};
}

ConfigOutcome load_kubelet(const KubeletText& kubelet) {
    return load_sources({{kubelet.name, kubelet.text, Dialect::kubelet, true}}, {});
}

ConfigOutcome load_files(const std::optional<std::filesystem::path>& kubelet_config,
                         const std::optional<std::filesystem::path>& config,
                         const std::optional<KubeletText>& kubelet) {
    std::vector<Source> sources;
    if (kubelet) sources.push_back({kubelet->name, kubelet->text, Dialect::kubelet, true});
    Faults faults;
    const auto add = [&](const std::optional<std::filesystem::path>& path, Dialect dialect) {
        if (!path) return;
        auto text = document::read_text_file(path->string(), configuration_limits);
        if (text) {
            sources.push_back({path->string(), std::move(*text), dialect});
        } else {
            faults.push_back(std::move(text.error()));
        }
    };
    if (kubelet_config && kubelet_config == config && document::is_inherited(config->string())) {
        return tl::unexpected(
            Faults{{config->string(), 0, 0, {}, "given twice, and can be read once", "name two files"}});
    }
    add(kubelet_config, Dialect::kubelet);
    add(config, Dialect::evictd);
    return load_sources(sources, faults);
}

ConfigOutcome reload_files(const std::optional<std::filesystem::path>& kubelet_config,
                           const std::optional<std::filesystem::path>& config,
                           const std::optional<KubeletText>& kubelet) {
    for (const auto& path : {kubelet_config, config}) {
        if (path && !is_readable_again(*path)) {
            return tl::unexpected(Faults{{path->string(),
                                          0,
                                          0,
                                          {},
                                          "cannot be read a second time",
                                          "start evictd with a configuration file to reload it"}});
        }
    }
    return load_files(kubelet_config, config, kubelet);
}

bool is_readable_again(const std::filesystem::path& path) { return !document::is_inherited(path.string()); }

std::vector<std::string> different_settings(const Config& in_force, const Config& wanted) {
    std::vector<std::string> names;
    for (const AgentSetting& row : agent_settings()) {
        if (row.show(in_force) != row.show(wanted)) names.push_back("evictd." + std::string(row.name));
    }
    const auto compare = [&](const char* name, const auto& mine, const auto& other) {
        if (mine != other) names.emplace_back(name);
    };
    compare("cgroupRoot", in_force.cgroup_root, wanted.cgroup_root);
    compare("cgroupDriver", in_force.cgroup_driver, wanted.cgroup_driver);
    compare("staticPodPath", in_force.static_pod_path, wanted.static_pod_path);
    compare("podLogsDir", in_force.pod_logs_dir, wanted.pod_logs_dir);
    compare("containerRuntimeEndpoint", in_force.container_runtime_endpoint, wanted.container_runtime_endpoint);
    return names;
}

}  // namespace evictd::config
