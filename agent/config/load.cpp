// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files to settings, settings of several files to one list, the list to a Config.
#include "config/load.hpp"

#include <algorithm>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "config/agent_settings.hpp"
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
    return draft.config;
}

// Faults come in the order in which the files were named and are read.
ConfigOutcome load_sources(const std::vector<Source>& sources, const Faults& unread) {
    std::list<Reading> readings;
    Settings settings;
    for (const Source& source : sources) {
        auto& reading =
            readings.emplace_back(document::parse_one(source.text, source.name, configuration_limits), source.name);
        add_source(reading.root(), source.dialect, settings);
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

ConfigOutcome load_files(const std::optional<std::filesystem::path>& kubelet_config,
                         const std::optional<std::filesystem::path>& config) {
    std::vector<Source> sources;
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
                           const std::optional<std::filesystem::path>& config) {
    for (const auto& path : {kubelet_config, config}) {
        if (path && document::is_inherited(path->string())) {
            return tl::unexpected(Faults{{path->string(),
                                          0,
                                          0,
                                          {},
                                          "cannot be read a second time",
                                          "start evictd with a configuration file to reload it"}});
        }
    }
    return load_files(kubelet_config, config);
}

}  // namespace evictd::config
