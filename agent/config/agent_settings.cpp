// SPDX-License-Identifier: Apache-2.0
// evictd's own settings and the range of each.
#include "config/agent_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "evictd/model/quantity.hpp"

namespace evictd::config {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view block_prefix = "evictd.";

// Events and node objects carry it: what the API server takes for a node's name (a DNS subdomain).
void read_node_name(const Setting& setting, AgentConfig& agent) {
    const auto text = setting.text();
    if (!text) return;
    constexpr std::size_t longest = 253;
    const auto allowed = [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    const bool edges =
        text->empty() || ((*text)[0] != '-' && (*text)[0] != '.' && text->back() != '-' && text->back() != '.');
    if (text->size() > longest || !edges || !std::all_of(text->begin(), text->end(), allowed)) {
        setting.refuse('"' + printable(*text) + "\" is not a node name", "lower case letters, digits, - and .");
    }
    agent.node_name = *text;
}

template <std::string AgentConfig::*member>
void read_path(const Setting& setting, AgentConfig& agent) {
    const auto path = setting.text();
    if (!path) return;
    if (!path->starts_with('/') || path->find('\0') != std::string::npos) {
        setting.refuse('"' + printable(*path) + "\" is not a path from the root", "a path that starts with /");
    }
    agent.*member = *path;
}

void read_socket_path(const Setting& setting, AgentConfig& agent) {
    read_path<&AgentConfig::socket_path>(setting, agent);
    constexpr std::size_t longest = 107;  // sockaddr_un.sun_path holds 108 bytes, the last of them zero
    if (agent.socket_path.size() > longest) setting.refuse("longer than 107 bytes", "sockets have no longer paths");
}

template <bool AgentConfig::*member>
void read_flag(const Setting& setting, AgentConfig& agent) {
    agent.*member = setting.boolean().value_or(agent.*member);
}

template <int AgentConfig::*member, int least, int most>
void read_number(const Setting& setting, AgentConfig& agent) {
    agent.*member = static_cast<int>(setting.integer(least, most).value_or(agent.*member));
}

void read_bpf(const Setting& setting, AgentConfig& agent) {
    const auto text = setting.text();
    if (!text) return;
    if (*text == "auto") {
        agent.bpf = BpfUse::automatic;
    } else if (*text == "off") {
        agent.bpf = BpfUse::off;
    } else if (*text == "required") {
        agent.bpf = BpfUse::required;
    } else {
        setting.refuse('"' + printable(*text) + "\" stands here", "auto, off or required is expected");
    }
}

// Below 64 KiB a burst of evictions would rotate its own beginning away; above 1 TiB somebody slipped with a suffix.
void read_max_size(const Setting& setting, AgentConfig& agent) {
    const auto text = setting.text();
    if (!text) return;
    const auto size = parse_quantity(*text);
    if (!size) {
        setting.refuse(size.error().why, "a size such as 16Mi");
    } else if (size->value() < 64 << 10 || size->value() > std::int64_t{1} << 40) {
        setting.refuse("out of range: " + to_string(*size), "64Ki to 1Ti");
    } else {
        agent.event_log_max_size = Bytes{size->value()};
    }
}

// Shorter than 10 ms the looks themselves are the load; longer than an hour a lost kernel event goes unnoticed for
// good.
void read_look_period(const Setting& setting, AgentConfig& agent) {
    const auto period = setting.duration();
    if (!period) return;
    if (*period < 10ms || *period > 1h) setting.refuse("out of range: " + to_string(*period), "10ms to 1h");
    agent.look_period = *period;
}

template <std::string AgentConfig::*member>
std::string show_text(const AgentConfig& agent) {
    return printable(agent.*member);
}
template <bool AgentConfig::*member>
std::string show_flag(const AgentConfig& agent) {
    return agent.*member ? "true" : "false";
}
template <int AgentConfig::*member>
std::string show_number(const AgentConfig& agent) {
    return std::to_string(agent.*member);
}
std::string show_bpf(const AgentConfig& agent) {
    constexpr std::array<std::string_view, 3> names{"auto", "off", "required"};
    return std::string{names.at(static_cast<std::size_t>(agent.bpf))};
}
std::string show_max_size(const AgentConfig& agent) {
    return to_string(Quantity::of(agent.event_log_max_size.value, Quantity::Format::binary_si));
}
std::string show_look_period(const AgentConfig& agent) { return to_string(agent.look_period); }

using Agent = AgentConfig;
// The most files that a rotation renames in one go; the kernel's range of SCHED_FIFO priorities, and 0 for none.
constexpr std::array<AgentSetting, 13> settings{{
    {"nodeName", read_node_name, show_text<&Agent::node_name>},
    {"dryRun", read_flag<&Agent::dry_run>, show_flag<&Agent::dry_run>},
    {"bpf", read_bpf, show_bpf},
    {"bpffsPath", read_path<&Agent::bpffs_path>, show_text<&Agent::bpffs_path>},
    {"socketPath", read_socket_path, show_text<&Agent::socket_path>},
    {"eventLog.path", read_path<&Agent::event_log_path>, show_text<&Agent::event_log_path>},
    {"eventLog.maxSize", read_max_size, show_max_size},
    {"eventLog.maxFiles", read_number<&Agent::event_log_max_files, 1, 1000>, show_number<&Agent::event_log_max_files>},
    {"eventLog.stdout", read_flag<&Agent::events_to_stdout>, show_flag<&Agent::events_to_stdout>},
    {"statePath", read_path<&Agent::state_path>, show_text<&Agent::state_path>},
    {"podManifestPath", read_path<&Agent::pod_manifest_path>, show_text<&Agent::pod_manifest_path>},
    {"lookPeriod", read_look_period, show_look_period},
    {"realtimePriority", read_number<&Agent::realtime_priority, 0, 99>, show_number<&Agent::realtime_priority>},
}};

bool is_block(std::string_view name) {
    const std::string start = std::string{name} + ".";
    return std::any_of(settings.begin(), settings.end(), [&](const auto& row) { return row.name.starts_with(start); });
}

void flatten(const Setting& block, std::vector<Setting>& out) {
    for (const Setting& setting : block.children()) {
        const std::string below = setting.key().substr(block_prefix.size());
        if (is_block(below)) {
            flatten(setting, out);
            continue;
        }
        std::array<std::string_view, settings.size()> names;
        std::transform(settings.begin(), settings.end(), names.begin(), [](const auto& row) { return row.name; });
        if (std::find(names.begin(), names.end(), below) != names.end()) {
            out.push_back(setting);
        } else {
            setting.refuse("unknown key", "did you mean evictd." + std::string{nearest(below, names)} + "?");
        }
    }
}

}  // namespace

std::span<const AgentSetting> agent_settings() { return settings; }

std::vector<Setting> flatten_agent_settings(const Setting& block) {
    std::vector<Setting> out;
    flatten(block, out);
    return out;
}

}  // namespace evictd::config
