// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "needed_images.hpp"

#include <set>
#include <string_view>

#include "evictd/model/image_names.hpp"

namespace evictd::policy {

NeededImages::NeededImages(const std::vector<PodPtr>& pods, const Runtime& runtime) {
    std::set<std::pair<std::string_view, std::string_view>> created;
    for (const RuntimeContainer& one : runtime.containers) created.emplace(one.pod, one.name);
    for (const PodPtr& pod : pods) {
        if (!is_pod_active(*pod)) continue;
        const Container* missing = nullptr;
        for (const auto* containers : {&pod->init_containers, &pod->containers}) {
            for (const Container& one : *containers) {
                if (created.contains({pod->uid.value, one.name})) continue;
                missing = &one;
                add(one.image, {pod, &one});
            }
        }
        if (missing == nullptr) continue;
        for (const Volume& volume : pod->volumes)
            add(volume.image, {pod, missing});  // which of them mounts it is not kept
    }
}

void NeededImages::add(const std::string& image, const User& user) {
    for (auto& spelling : spellings_of_image(image)) by_spelling_.try_emplace(std::move(spelling), user);
}

std::string NeededImages::user_by(const std::string& spelling) const {
    const auto found = by_spelling_.find(spelling);
    if (found == by_spelling_.end()) return {};
    return found->second.pod->full_name() + "/" + found->second.container->name;
}

std::string NeededImages::user_of(const RuntimeImage& image) const {
    if (by_spelling_.empty()) return {};
    std::vector<std::string> spellings = spellings_of_image(image.id);
    for (const auto* names : {&image.tags, &image.digests}) {
        for (const std::string& name : *names) {
            for (auto& spelling : spellings_of_image(name)) spellings.push_back(std::move(spelling));
        }
    }
    for (const std::string& spelling : spellings) {
        if (std::string user = user_by(spelling); !user.empty()) return user;
    }
    return {};
}

}  // namespace evictd::policy
