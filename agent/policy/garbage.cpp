// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "garbage.hpp"

#include "evictd/model/quantity.hpp"
#include "garbage_parts.hpp"

namespace evictd::policy {

std::string name_for_people(const RuntimeImage& image) {
    if (!image.tags.empty()) return image.tags.front();
    return image.digests.empty() ? image.id : image.digests.front();
}

PodNames::PodNames(const Runtime& runtime) {
    for (const RuntimeSandbox& sandbox : runtime.sandboxes) {
        if (!sandbox.name.empty()) names_.try_emplace(sandbox.pod, sandbox.namespace_name + "/" + sandbox.name);
    }
}

std::string PodNames::of(const std::string& uid) const {
    const auto found = names_.find(uid);
    return found == names_.end() ? uid : found->second;
}

std::string PodNames::of(const RuntimeContainer& container) const { return of(container.pod) + "/" + container.name; }

std::string why_list_unknown(const GarbageLook& look, bool whole, std::string_view list) {
    if (!whole) return "the list of " + std::string(list) + " is not complete";
    if (look.request.inventory_since && look.runtime.at >= *look.request.inventory_since) return {};
    const Duration age = look.request.now - look.runtime.at;
    if (age <= longest_inventory_age) return {};
    return "the inventory is " + to_string(std::chrono::floor<std::chrono::seconds>(age)) + " old";
}

GarbagePlan plan_garbage(const GarbageConfig& config, const GarbageRequest& request, const Runtime& runtime,
                         const PodWordOf& word_of) {
    const GarbageLook look{config, request, runtime, word_of};
    GarbagePlan plan;
    std::unordered_set<std::string_view> gone;
    if (request.containers) {
        gone = plan_containers(look, plan);
        plan_logs(look, gone, plan);
    }
    if (request.images) plan_images(look, gone, plan);
    if (request.rotated_logs) plan_rotated_logs(look, plan);
    return plan;
}

}  // namespace evictd::policy
