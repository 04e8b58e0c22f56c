// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Which images the pods of this node are about to need: their containers are not created yet, so neither the runtime's
// list of containers nor its uses of images tell of them.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evictd/model/pod.hpp"
#include "evictd/model/runtime.hpp"

namespace evictd::policy {

class NeededImages {
public:
    // No pod that has ended or is being deleted counts: the kubelet creates no container of it.
    NeededImages(const std::vector<PodPtr>& pods, const Runtime& runtime);

    // The first container that needs it, "default/web/main"; empty: none does.
    [[nodiscard]] std::string user_of(const RuntimeImage& image) const;

private:
    struct User {
        PodPtr pod;
        const Container* container = nullptr;  // of the pod
    };
    void add(const std::string& image, const User& user);
    [[nodiscard]] std::string user_by(const std::string& spelling) const;

    std::unordered_map<std::string, User> by_spelling_;
};

}  // namespace evictd::policy
