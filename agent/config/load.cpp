// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Files to settings, settings of several files to one list, the list to a Config.
#include "config/load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/agent_settings.hpp"
#include "config/kubelet_settings.hpp"
#include "config/setting.hpp"
#include "config/yaml_tree.hpp"

namespace evictd::config {
namespace {

// One byte more than the parser takes: enough for it to see that there is too much.
constexpr std::size_t max_read = max_yaml_size + 1;

struct Source {
    std::string name;
    std::string text;
    Dialect dialect;
};

struct Settings {
    std::vector<Setting> kubelet;  // by their name
    std::vector<Setting> agent;    // by their key
};

bool is_kubelet_configuration(const std::vector<Setting>& top) {
    return std::any_of(top.begin(), top.end(), [](const Setting& setting) {
        return setting.name() == "kind" && !setting.absent() && setting.text() == "KubeletConfiguration";
    });
}

void refuse_unknown(const Setting& setting) {
    std::vector<std::string_view> names{"evictd"};
    for (const KubeletSetting& row : kubelet_settings()) names.push_back(row.name);
    setting.refuse("unknown key", "did you mean " + std::string{nearest(setting.name(), names)} +
                                      "? Other keys of the kubelet's are ignored with kind: KubeletConfiguration");
}

// What replaces what is decided by `same`; what is new goes to the end.
template <class Same>
void put(std::vector<Setting>& settings, const Setting& setting, Same same) {
    if (setting.absent()) return;
    const auto found =
        std::find_if(settings.begin(), settings.end(), [&](const Setting& old) { return same(old, setting); });
    if (found == settings.end()) {
        settings.push_back(setting);
    } else {
        *found = setting;
    }
}

void add_source(const Source& source, Faults& faults, Settings& settings) {
    YamlTree tree = parse_yaml(source.text, source.name);
    faults.insert(faults.end(), tree.faults.begin(), tree.faults.end());
    if (!tree.root) return;
    const std::vector<Setting> top = Setting(faults, source.name, tree.root).children();
    const bool foreign_keys = source.dialect == Dialect::kubelet || is_kubelet_configuration(top);
    const auto rows = kubelet_settings();
    for (const Setting& setting : top) {
        const auto is_it = [&setting](const KubeletSetting& row) { return row.name == setting.name(); };
        if (setting.name() == "evictd") {
            for (const Setting& own : flatten_agent_settings(setting)) {
                put(settings.agent, own, [](const Setting& a, const Setting& b) { return a.key() == b.key(); });
            }
        } else if (std::any_of(rows.begin(), rows.end(), is_it)) {
            put(settings.kubelet, setting, [](const Setting& a, const Setting& b) { return a.name() == b.name(); });
        } else if (!foreign_keys && faults.size() < max_faults) {
            refuse_unknown(setting);
        }
    }
}

Config read(const Settings& settings) {
    Draft draft;
    for (const Setting& setting : settings.kubelet) {
        for (const KubeletSetting& row : kubelet_settings()) {
            if (row.name == setting.name()) row.read(setting, draft);
        }
    }
    for (const Setting& setting : settings.agent) {
        for (const AgentSetting& row : agent_settings()) {
            if (setting.key() == "evictd." + std::string{row.name}) row.read(setting, draft.config);
        }
    }
    finish(draft);
    return draft.config;
}

// In the order in which the files were named and are read; what was noted twice, once.
void sort(Faults& faults, const std::vector<Source>& sources) {
    const auto place = [&sources](const Fault& fault) {
        const auto named = [&fault](const Source& source) { return source.name == fault.file; };
        const auto file = std::find_if(sources.begin(), sources.end(), named) - sources.begin();
        return std::tuple{file, fault.line, fault.column, fault.key, fault.what};
    };
    std::stable_sort(faults.begin(), faults.end(), [&](const Fault& a, const Fault& b) { return place(a) < place(b); });
    faults.erase(std::unique(faults.begin(), faults.end()), faults.end());
}

ConfigOutcome load_sources(const std::vector<Source>& sources, Faults faults) {
    Settings settings;
    for (const Source& source : sources) add_source(source, faults, settings);
    Config config = read(settings);
    for (const Source& source : sources) config.file += (config.file.empty() ? "" : ", ") + source.name;
    if (faults.empty()) return config;
    sort(faults, sources);
    if (faults.size() >= max_faults) {
        faults.push_back({faults.back().file, 0, 0, {}, "there may be more faults than these", "mend these first"});
    }
    return tl::unexpected(std::move(faults));
}

Fault unreadable(const std::string& name, int error) {
    std::string remedy = "give a readable file";
    if (error == ENOENT) remedy = "check the path";
    if (error == ESPIPE) remedy = "name a plain file, or /dev/stdin";
    if (error == EISDIR) remedy = "name the file in it";
    if (error == EACCES || error == EPERM) remedy = "run as root, or let this user read it";
    const bool denied = error == EACCES || error == EPERM;
    return {name,
            0,
            0,
            {},
            error == ESPIPE ? "not a regular file" : std::string{"cannot be read: "} + std::strerror(error),
            std::move(remedy),
            denied ? ErrorKind::not_permitted : ErrorKind::failed};
}

// What this process was started with: a shell's `check /dev/stdin` or `check <(...)`. Its writer is there.
bool is_inherited(const std::string& path) {
    return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

// Anything else than a plain file may never end, and a FIFO without a writer would not even open.
int open_plain(const std::string& path) {
    const bool inherited = is_inherited(path);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | (inherited ? 0 : O_NONBLOCK));
    struct stat status {};
    if (file < 0 || inherited) return file;
    const bool known = ::fstat(file, &status) == 0;
    if (known && S_ISREG(status.st_mode)) return file;
    const int error = !known ? errno : S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
    ::close(file);
    errno = error;
    return -1;
}

tl::expected<Source, Fault> read_source(const std::filesystem::path& path, Dialect dialect) {
    const int opened = open_plain(path.string());
    if (opened < 0) return tl::unexpected(unreadable(path.string(), errno));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(::fdopen(opened, "r"), std::fclose);
    if (!file) return tl::unexpected(unreadable(path.string(), errno));
    Source source{path.string(), std::string(max_read, '\0'), dialect};
    source.text.resize(std::fread(source.text.data(), 1, max_read, file.get()));
    if (std::ferror(file.get()) != 0) return tl::unexpected(unreadable(path.string(), errno));
    return source;
}

}  // namespace

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
        auto source = read_source(*path, dialect);
        if (source) {
            sources.push_back(std::move(*source));
        } else {
            faults.push_back(std::move(source.error()));
        }
    };
    add(kubelet_config, Dialect::kubelet);
    add(config, Dialect::evictd);
    return load_sources(sources, std::move(faults));
}

}  // namespace evictd::config
