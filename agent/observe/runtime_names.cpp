// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "observe/runtime_names.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace evictd::observe {
namespace {

// Of Kubernetes: a DNS subdomain and a DNS label.
constexpr std::size_t longest_pod_name = 253;
constexpr std::size_t longest_label = 63;
// A UUID and a SHA-256 in hexadecimal are shorter.
constexpr std::size_t longest_id = 128;

// Also what only other tools than Kubernetes would make, but nothing that means something in a path or on a terminal.
bool is_name(std::string_view text, std::size_t longest) {
    const auto is_alphanumeric = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    const auto is_allowed = [&](char c) { return is_alphanumeric(c) || c == '-' || c == '.' || c == '_'; };
    return !text.empty() && text.size() <= longest && is_alphanumeric(text.front()) &&
           std::all_of(text.begin(), text.end(), is_allowed);
}

template <class Value>
std::vector<const Value*> pointers_to(const std::vector<Value>& values) {
    std::vector<const Value*> pointers;
    pointers.reserve(values.size());
    for (const auto& value : values) pointers.push_back(&value);
    return pointers;
}

// One for each uid, ordered by it.
std::vector<NamedPod> named_pods(const std::vector<RuntimeSandbox>& sandboxes) {
    auto best = pointers_to(sandboxes);
    std::erase_if(best, [](const RuntimeSandbox* one) {
        return !is_name(one->pod, longest_id) || !is_name(one->namespace_name, longest_label) ||
               !is_name(one->name, longest_pod_name);
    });
    std::stable_sort(best.begin(), best.end(), [](const RuntimeSandbox* a, const RuntimeSandbox* b) {
        return std::tuple(a->ready, a->attempt, a->created) > std::tuple(b->ready, b->attempt, b->created);
    });
    best.resize(std::min(best.size(), most_named_pods));
    std::stable_sort(best.begin(), best.end(),
                     [](const RuntimeSandbox* a, const RuntimeSandbox* b) { return a->pod < b->pod; });
    const auto same_uid = [](const RuntimeSandbox* a, const RuntimeSandbox* b) { return a->pod == b->pod; };
    best.erase(std::unique(best.begin(), best.end(), same_uid), best.end());
    std::vector<NamedPod> pods;
    pods.reserve(best.size());
    for (const auto* one : best) {
        pods.push_back({.uid = {one->pod}, .name_space = one->namespace_name, .name = one->name});
    }
    return pods;
}

// The sandbox says whose a container is; its label does where the sandbox came after the list of sandboxes.
void add_containers(const std::vector<RuntimeSandbox>& sandboxes, const std::vector<RuntimeContainer>& containers,
                    std::vector<NamedPod>& pods) {
    std::unordered_map<std::string_view, std::string_view> uid_of;
    for (const auto& sandbox : sandboxes) uid_of.emplace(sandbox.id, sandbox.pod);
    std::unordered_map<std::string_view, NamedPod*> by_uid;
    for (auto& pod : pods) by_uid.emplace(pod.uid.value, &pod);
    auto newest = pointers_to(containers);
    std::stable_sort(newest.begin(), newest.end(), [](const RuntimeContainer* a, const RuntimeContainer* b) {
        return std::tuple(a->created, a->attempt) > std::tuple(b->created, b->attempt);
    });
    newest.resize(std::min(newest.size(), most_named_containers));
    for (const auto* one : newest) {
        const auto sandbox = uid_of.find(one->sandbox);
        const auto pod = by_uid.find(sandbox == uid_of.end() ? std::string_view(one->pod) : sandbox->second);
        if (pod == by_uid.end() || !is_name(one->name, longest_label) || !is_name(one->id, longest_id)) continue;
        pod->second->containers.push_back({.id = one->id, .name = one->name});
    }
}

}  // namespace

RuntimeNames runtime_names(const std::vector<RuntimeSandbox>& sandboxes,
                           const std::vector<RuntimeContainer>& containers) {
    RuntimeNames names{.pods = named_pods(sandboxes)};
    add_containers(sandboxes, containers, names.pods);
    return names;
}

Result<RuntimeNamesPtr> read_names(port::ContainerRuntime& runtime) {
    const auto sandboxes = runtime.sandboxes();
    if (!sandboxes) return tl::unexpected(sandboxes.error());
    const auto containers = runtime.containers();
    if (!containers) return tl::unexpected(containers.error());
    return std::make_shared<const RuntimeNames>(runtime_names(*sandboxes, *containers));
}

}  // namespace evictd::observe
