// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The parts of plan_garbage(), one for each kind of thing. For garbage.cpp alone.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "garbage.hpp"

namespace evictd::policy {

struct GarbageLook {
    const GarbageConfig& config;
    const GarbageRequest& request;
    const Runtime& runtime;
    const PodWordOf& word_of;
};

// Ids that a list has twice, and empty ones: it is not known which entry is true.
template <class Item>
std::unordered_set<std::string_view> ambiguous_ids(const std::vector<Item>& items) {
    std::unordered_set<std::string_view> seen;
    std::unordered_set<std::string_view> ambiguous{""};
    for (const Item& item : items) {
        if (!seen.insert(item.id).second) ambiguous.insert(item.id);
    }
    return ambiguous;
}

[[nodiscard]] std::string name_for_people(const RuntimeImage& image);
// Of a pod: as some sandbox of it says, else its uid.
class PodNames {
public:
    explicit PodNames(const Runtime& runtime);
    [[nodiscard]] std::string of(const std::string& uid) const;
    [[nodiscard]] std::string of(const RuntimeContainer& container) const;

private:
    std::unordered_map<std::string_view, std::string> names_;
};

// Dead containers and their sandboxes. The ids of containers that go.
std::unordered_set<std::string_view> plan_containers(const GarbageLook& look, GarbagePlan& plan);
// Directories and links of logs. `gone`: the containers that go before.
void plan_logs(const GarbageLook& look, const std::unordered_set<std::string_view>& gone, GarbagePlan& plan);
void plan_images(const GarbageLook& look, const std::unordered_set<std::string_view>& gone, GarbagePlan& plan);
void plan_rotated_logs(const GarbageLook& look, GarbagePlan& plan);

// Why nothing of a list may go; empty: it may.
[[nodiscard]] std::string why_list_unknown(const GarbageLook& look, bool whole, std::string_view list);

}  // namespace evictd::policy
