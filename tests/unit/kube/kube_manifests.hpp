// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Small manifests for the tests of this folder.
#pragma once

#include <string>

#include "evictd/port/pod_source.hpp"

namespace evictd::kube {

inline std::string manifest(const std::string& name, const std::string& uid) {
    return "kind: Pod\nmetadata:\n  name: " + name + "\n  uid: " + uid + "\nspec:\n  containers:\n  - name: app\n";
}
inline std::string manifest(const std::string& name) { return manifest(name, "uid-" + name); }

inline std::string names(const port::PodSet& set) {
    std::string all;
    for (const auto& pod : set.pods) all += (all.empty() ? "" : " ") + pod->name;
    return all;
}

}  // namespace evictd::kube
