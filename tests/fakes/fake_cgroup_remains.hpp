// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/port/cgroup_remains.hpp"

namespace evictd::fakes {

class FakeCgroupRemains final : public port::CgroupRemains {
public:
    Result<std::string> alive = std::string();
    std::optional<Error> fails;
    std::vector<std::string> removed;

    Result<std::string> life(const PodUid& /*pod*/, const std::string& /*path*/) override { return alive; }
    Status remove(const PodUid& pod, const std::string& path) override {
        if (fails) return tl::unexpected(*fails);
        removed.push_back(pod.value + " " + path);
        return {};
    }
};

}  // namespace evictd::fakes
