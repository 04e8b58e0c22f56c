// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The keys of an `evictd:` block, and what is suggested for those that are not known.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/agent_settings.hpp"
#include "config/kubelet_settings.hpp"

namespace evictd::config {
namespace {

bool is_setting(std::string_view name) {
    const auto all = agent_settings();
    return std::any_of(all.begin(), all.end(), [&](const AgentSetting& row) { return row.name == name; });
}

bool is_block(std::string_view name) {
    const std::string start = std::string{name} + ".";
    const auto all = agent_settings();
    return std::any_of(all.begin(), all.end(), [&](const AgentSetting& row) { return row.name.starts_with(start); });
}

// What may be written below `above`: names of settings, and of the blocks they are in.
std::vector<std::string_view> keys_below(std::string_view above) {
    std::vector<std::string_view> keys;
    for (const AgentSetting& row : agent_settings()) {
        if (!row.name.starts_with(above)) continue;
        const std::string_view key = row.name.substr(above.size());
        keys.push_back(key.substr(0, key.find('.')));
        if (keys.back() != key) keys.push_back(key);
    }
    return keys;
}

void refuse_unknown(const Value& setting, const std::string& above) {
    const auto top = kubelet_settings();
    const bool is_top_level =
        std::any_of(top.begin(), top.end(), [&](const KubeletSetting& row) { return row.name == setting.key(); });
    std::string belongs =
        is_top_level ? std::string(setting.key()) + " is a top-level key" : where_it_belongs(setting.key());
    if (belongs.empty() && !setting.reading().is_full()) {
        belongs = document::did_you_mean(setting.key(), keys_below(above), "evictd.example.yaml has all settings",
                                         "evictd." + above);
    }
    setting.refuse_unknown("key", {}, std::move(belongs));
}

std::string map_of(const std::vector<std::string_view>& keys) {
    std::string text = "expected a map of ";
    for (std::size_t i = 0; i < keys.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + std::string(keys[i]);
    }
    return text;
}

void flatten(const Value& block, const std::string& above, AgentValues& out) {
    if (!above.empty() && block.present() && !block.is_map()) {
        const bool is_list = block.is_list();
        block.refuse(is_list ? "found a list" : "invalid value " + in_quotes(block.scalar().value_or("")),
                     map_of(keys_below(above)));
        return;
    }
    for (const Value& setting : block.fields()) {
        const std::string name = above + setting.key();
        if (is_block(name)) {
            flatten(setting, name + ".", out);
        } else if (is_setting(name)) {
            out.emplace_back(name, setting);
        } else {
            refuse_unknown(setting, above);
        }
    }
}

}  // namespace

std::string where_it_belongs(std::string_view key) {
    for (const AgentSetting& row : agent_settings()) {
        const std::size_t at = row.name.find(key);
        if (key.empty() || at == std::string_view::npos) continue;
        const bool is_whole = (at == 0 || row.name[at - 1] == '.') &&
                              (at + key.size() == row.name.size() || row.name[at + key.size()] == '.');
        if (!is_whole) continue;
        const std::string_view above = row.name.substr(0, at == 0 ? 0 : at - 1);
        return std::string(key) + " belongs under evictd" + (above.empty() ? "" : ".") + std::string(above) + ":";
    }
    return {};
}

AgentValues flatten_agent_settings(const Value& block) {
    AgentValues out;
    flatten(block, {}, out);
    return out;
}

}  // namespace evictd::config
