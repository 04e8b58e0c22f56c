// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evictd/port/pod_remains.hpp"

namespace evictd::fakes {

class FakePodRemains final : public port::PodRemains {
public:
    Result<std::string> alive = std::string();
    std::optional<Error> fails;  // of volumes
    std::vector<std::string> removed;

    Result<std::string> life(const PodUid& /*pod*/) override { return alive; }
    Status check_volumes(const PodUid& /*pod*/) override { return fails ? tl::unexpected(*fails) : Status{}; }
    Status remove_volumes(const PodUid& pod) override {
        if (fails) return tl::unexpected(*fails);
        removed.push_back(pod.value);
        return {};
    }
};

}  // namespace evictd::fakes
