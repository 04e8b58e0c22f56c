// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// evictd's own settings and the range of each.
#include "config/agent_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include <arpa/inet.h>

#include "config/cluster_settings.hpp"
#include "config/exhaustion_settings.hpp"
#include "config/gc_settings.hpp"
#include "config/ladder_settings.hpp"
#include "config/stall_settings.hpp"
#include "evictd/model/quantity.hpp"

namespace evictd::config {

namespace {

using namespace std::chrono_literals;

// Events and node objects carry it: what the API server takes for a node's name (a DNS subdomain).
void read_node_name(const Value& setting, Config& config) {
    const auto text = setting.scalar();
    if (!text) return;
    constexpr std::size_t longest = 253;
    const auto allowed = [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    };
    const bool edges =
        text->empty() || ((*text)[0] != '-' && (*text)[0] != '.' && text->back() != '-' && text->back() != '.');
    if (text->size() > longest || !edges || !std::all_of(text->begin(), text->end(), allowed)) {
        setting.refuse('"' + excerpt(*text) + "\" is not a node name", "lower case letters, digits, - and .");
    }
    config.agent.node_name = *text;
}

template <std::string AgentConfig::*member, bool may_be_empty = false>
void read_path(const Value& setting, Config& config) {
    const auto path = setting.scalar();
    if (!path) return;
    const bool is_none = path->empty() && may_be_empty;
    if ((!is_none && !path->starts_with('/')) || path->find('\0') != std::string::npos) {
        setting.refuse('"' + excerpt(*path) + "\" is not a path from the root", "a path that starts with /");
    }
    config.agent.*member = *path;
}

// The mount point is where every program of the host has its pins; evictd needs a directory of its own.
void read_bpffs_path(const Value& setting, Config& config) {
    read_path<&AgentConfig::bpffs_path>(setting, config);
    const auto path = std::filesystem::path(config.agent.bpffs_path + "/").lexically_normal();
    if (path == "/sys/fs/bpf/")
        setting.refuse("the BPF filesystem itself, where others have their pins", "/sys/fs/bpf/evictd");
}

void read_socket_path(const Value& setting, Config& config) {
    read_path<&AgentConfig::socket_path>(setting, config);
    // sockaddr_un.sun_path holds 108 bytes, the last of them zero; beside it is the health socket, PATH.health.
    constexpr std::size_t longest = 107 - std::string_view(".health").size();
    static_assert(longest == 100);
    if (config.agent.socket_path.size() > longest)
        setting.refuse("longer than 100 bytes",
                       "a socket's path has at most 107, and the health socket's is this with .health");
}

// By number: a name would be asked of a server that may hang, before anything is watched.
void read_http_address(const Value& setting, Config& config) {
    const auto text = setting.scalar();
    if (!text) return;
    const auto colon = text->rfind(':');
    const std::string port = colon == std::string::npos ? "" : text->substr(colon + 1);
    std::string host = text->substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    int number = 0;
    const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool is_port = parsed.ec == std::errc{} && parsed.ptr == port.data() + port.size() && number <= 65535;
    std::array<std::byte, sizeof(in6_addr)> address{};
    const int family = (*text)[0] == '[' ? AF_INET6 : AF_INET;
    if (!text->empty() && (!is_port || number < 1 || inet_pton(family, host.c_str(), address.data()) != 1)) {
        setting.refuse("invalid address " + in_quotes(*text), "expected 127.0.0.1:20262, or [::1]:20262");
    }
    config.agent.http_address = *text;
}

// Where a flag or a choice is.
template <class T>
constexpr auto part(T AgentConfig::* /*member*/) {
    return &Config::agent;
}
template <class T>
constexpr auto part(T EvictionConfig::* /*member*/) {
    return &Config::eviction;
}

template <auto member>
void read_flag(const Value& setting, Config& config) {
    bool& flag = config.*part(member).*member;
    flag = setting.boolean().value_or(flag);
}

template <int AgentConfig::*member, int least, int most>
void read_number(const Value& setting, Config& config) {
    config.agent.*member = static_cast<int>(setting.integer(least, most).value_or(config.agent.*member));
}

template <class E, std::size_t count>
using Words = std::array<std::pair<std::string_view, E>, count>;
constexpr Words<BpfUse, 3> bpf_words{
    {{"auto", BpfUse::automatic}, {"off", BpfUse::off}, {"required", BpfUse::required}}};
constexpr Words<RankingOrder, 2> ranking_words{{{"kubelet", RankingOrder::kubelet}, {"qos", RankingOrder::qos}}};
constexpr Words<SoftEvictionGrace, 2> soft_eviction_grace_words{
    {{"kubelet", SoftEvictionGrace::kubelet}, {"pod", SoftEvictionGrace::pod}}};
constexpr Words<TieBreak, 2> tie_break_words{{{"scaleDown", TieBreak::scale_down}, {"uid", TieBreak::uid}}};

constexpr Words<NodeStatusUse, 3> node_status_words{
    {{"taints", NodeStatusUse::taints}, {"conditions", NodeStatusUse::conditions}, {"off", NodeStatusUse::off}}};

constexpr Words<MemoryAvailable, 2> memory_available_words{
    {{name(MemoryAvailable::kubelet), MemoryAvailable::kubelet},
     {name(MemoryAvailable::reclaimable), MemoryAvailable::reclaimable}}};

constexpr Words<OomScoreAdjPolicy, 3> oom_score_adj_words{{{"enforce", OomScoreAdjPolicy::enforce},
                                                           {"observe", OomScoreAdjPolicy::observe},
                                                           {"off", OomScoreAdjPolicy::off}}};

template <auto member, const auto& words>
void read_word(const Value& setting, Config& config) {
    auto& value = config.*part(member).*member;
    value = setting.one_of(words).value_or(value);
}

template <auto member, const auto& words>
std::string show_word(const Config& config) {
    for (const auto& [word, meaning] : words) {
        if (meaning == config.*part(member).*member) return std::string{word};
    }
    return {};
}

// More than a handful is not relief but an outage; a thousand is every pod of the largest nodes.
void read_shed_pods(const Value& setting, Config& config) {
    config.eviction.shed_pods = static_cast<int>(setting.integer(1, 1000).value_or(config.eviction.shed_pods));
}

// How many of this node's ended pods are kept. The cluster's own default is 12500 for all nodes.
void read_kept_terminated_pods(const Value& setting, Config& config) {
    auto& kept = config.eviction.kept_terminated_pods;
    kept = static_cast<int>(setting.integer(0, 1'000'000).value_or(kept));
}

// The two that kubelets have given, older ones -998 (qos/policy.go guaranteedOOMScoreAdj).
void read_guaranteed_oom_score_adj(const Value& setting, Config& config) {
    const auto score = setting.integer(-998, -997);
    if (score) config.guaranteed_oom_score_adj = static_cast<int>(*score);
}

// Below 64 KiB a burst of evictions would rotate its own beginning away; above 1 TiB somebody slipped with a suffix.
void read_max_size(const Value& setting, Config& config) {
    const auto text = setting.scalar();
    if (!text) return;
    const auto size = parse_quantity(*text);
    if (!size) {
        setting.refuse(document::invalid_quantity(*text), std::string(document::quantity_expected));
    } else if (size->value() < 64 << 10 || size->value() > std::int64_t{1} << 40) {
        setting.refuse("out of range: " + to_string(*size), "64Ki to 1Ti");
    } else {
        config.agent.event_log_max_size = Bytes{size->value()};
    }
}

// Shorter than 10 ms the looks themselves are the load; longer than an hour a lost kernel event goes unnoticed for
// good.
void read_look_period(const Value& setting, Config& config) {
    const auto period = setting.duration();
    if (!period) return;
    if (*period < 10ms || *period > 1h) setting.refuse("out of range: " + to_string(*period), "10ms to 1h");
    config.eviction.look_period = *period;
}

template <std::string AgentConfig::*member>
std::string show_text(const Config& config) {
    return excerpt(config.agent.*member);
}
template <auto member>
std::string show_flag(const Config& config) {
    return config.*part(member).*member ? "true" : "false";
}
template <int AgentConfig::*member>
std::string show_number(const Config& config) {
    return std::to_string(config.agent.*member);
}
std::string show_shed_pods(const Config& config) { return std::to_string(config.eviction.shed_pods); }
std::string show_kept_terminated_pods(const Config& config) {
    return std::to_string(config.eviction.kept_terminated_pods);
}
std::string show_guaranteed_oom_score_adj(const Config& config) {
    return std::to_string(config.guaranteed_oom_score_adj);
}
std::string show_max_size(const Config& config) {
    return to_string(Quantity::of(config.agent.event_log_max_size.value, Quantity::Format::binary_si));
}
std::string show_look_period(const Config& config) { return to_string(config.eviction.look_period); }

using Agent = AgentConfig;
using Eviction = EvictionConfig;
// The most files that a rotation renames in one go; the kernel's range of SCHED_FIFO priorities, and 0 for none.
constexpr std::array<AgentSetting, 59> all_agent_settings{{
    {"nodeName", read_node_name, show_text<&Agent::node_name>},
    {"dryRun", read_flag<&Agent::dry_run>, show_flag<&Agent::dry_run>},
    {"watchConfig", read_flag<&Agent::watch_config>, show_flag<&Agent::watch_config>},
    {"bpf", read_word<&Agent::bpf, bpf_words>, show_word<&Agent::bpf, bpf_words>},
    {"bpffsPath", read_bpffs_path, show_text<&Agent::bpffs_path>},
    {"socketPath", read_socket_path, show_text<&Agent::socket_path>},
    {"intentsPath", read_path<&Agent::intents_path>, show_text<&Agent::intents_path>},
    {"httpAddress", read_http_address, show_text<&Agent::http_address>},
    {"eventLog.path", read_path<&Agent::event_log_path>, show_text<&Agent::event_log_path>},
    {"eventLog.maxSize", read_max_size, show_max_size},
    {"eventLog.maxFiles", read_number<&Agent::event_log_max_files, 1, 1000>, show_number<&Agent::event_log_max_files>},
    {"eventLog.stdout", read_flag<&Agent::events_to_stdout>, show_flag<&Agent::events_to_stdout>},
    {"statePath", read_path<&Agent::state_path>, show_text<&Agent::state_path>},
    {"podManifestPath", read_path<&Agent::pod_manifest_path, true>, show_text<&Agent::pod_manifest_path>},
    {"apiServer", read_api_server, show_api_server},
    {"kubeconfig", read_kubeconfig, show_kubeconfig},
    {"kubelet.url", read_kubelet_url, show_kubelet_url},
    {"kubelet.caFile", read_kubelet_ca_file, show_kubelet_ca_file},
    {"kubelet.podsSocket", read_kubelet_pods_socket, show_kubelet_pods_socket},
    {"kubelet.rootDirectory", read_kubelet_root, show_kubelet_root},
    {"kubelet.config", read_kubelet_config, show_kubelet_config},
    {"podStatus", read_pod_status, show_pod_status},
    {"softEvictionAPI", read_soft_eviction_api, show_soft_eviction_api},
    {"admission", read_flag<&Eviction::admission>, show_flag<&Eviction::admission>},
    {"taintEviction", read_flag<&Eviction::taint_eviction>, show_flag<&Eviction::taint_eviction>},
    {"activeDeadlines", read_flag<&Eviction::active_deadlines>, show_flag<&Eviction::active_deadlines>},
    {"podGCThreshold", read_kept_terminated_pods, show_kept_terminated_pods},
    {"nodeStatus", read_word<&Eviction::node_status, node_status_words>,
     show_word<&Eviction::node_status, node_status_words>},
    {"kubeEvents", read_flag<&Agent::kube_events>, show_flag<&Agent::kube_events>},
    {"lookPeriod", read_look_period, show_look_period},
    {"memoryAvailable", read_word<&Eviction::memory_available, memory_available_words>,
     show_word<&Eviction::memory_available, memory_available_words>},
    {"timeToExhaustion.soft", read_time<&Eviction::time_to_exhaustion>, show_time<&Eviction::time_to_exhaustion>},
    {"timeToExhaustion.softGracePeriod", read_grace_period<&Eviction::time_to_exhaustion_grace_period>,
     show_time<&Eviction::time_to_exhaustion_grace_period>},
    {"timeToExhaustion.diskSoft", read_time<&Eviction::disk_time_to_exhaustion>,
     show_time<&Eviction::disk_time_to_exhaustion>},
    {"timeToExhaustion.diskSoftGracePeriod", read_grace_period<&Eviction::disk_time_to_exhaustion_grace_period>,
     show_time<&Eviction::disk_time_to_exhaustion_grace_period>},
    {"softEvictionGrace", read_word<&Eviction::soft_eviction_grace, soft_eviction_grace_words>,
     show_word<&Eviction::soft_eviction_grace, soft_eviction_grace_words>},
    {"ranking", read_word<&Eviction::ranking, ranking_words>, show_word<&Eviction::ranking, ranking_words>},
    {"tieBreak", read_word<&Eviction::tie_break, tie_break_words>, show_word<&Eviction::tie_break, tie_break_words>},
    {"sockets.shed", read_flag<&Eviction::shed_sockets>, show_flag<&Eviction::shed_sockets>},
    {"sockets.shedPods", read_shed_pods, show_shed_pods},
    {"ladder.reclaim", read_rung<&LadderConfig::reclaim>, show_rung<&LadderConfig::reclaim>},
    {"ladder.squeeze", read_rung<&LadderConfig::squeeze>, show_rung<&LadderConfig::squeeze>},
    {"ladder.squeezeFor", read_squeeze_for, show_squeeze_for},
    {"ladder.freeze", read_rung<&LadderConfig::freeze>, show_rung<&LadderConfig::freeze>},
    {"ladder.freezeFor", read_freeze_for, show_freeze_for},
    {"disks", read_flag<&Agent::disks>, show_flag<&Agent::disks>},
    {"gc.images", read_gc_images, show_gc_images},
    {"gc.keepImages", read_gc_keep_images, show_gc_keep_images},
    {"gc.logs", read_gc_logs, show_gc_logs},
    {"gc.routine", read_gc_routine, show_gc_routine},
    {"gc.orphans", read_gc_orphans, show_gc_orphans},
    {"gc.orphanQuarantine", read_gc_orphan_quarantine, show_gc_orphan_quarantine},
    {"gc.deadline", read_gc_deadline, show_gc_deadline},
    {"guaranteedOOMScoreAdj", read_guaranteed_oom_score_adj, show_guaranteed_oom_score_adj},
    {"oomScoreAdjPolicy", read_word<&Agent::oom_score_adj_policy, oom_score_adj_words>,
     show_word<&Agent::oom_score_adj_policy, oom_score_adj_words>},
    {"oomScoreAdjSteering", read_flag<&Agent::oom_score_adj_steering>, show_flag<&Agent::oom_score_adj_steering>},
    {"psi", read_stalls, show_stalls},
    {"confirmPressure", read_flag<&Eviction::confirm_pressure>, show_flag<&Eviction::confirm_pressure>},
    {"realtimePriority", read_number<&Agent::realtime_priority, 0, 99>, show_number<&Agent::realtime_priority>},
}};

}  // namespace

std::span<const AgentSetting> agent_settings() { return all_agent_settings; }

}  // namespace evictd::config
