// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Sockets as a test declares them, and who would be refused.
#pragma once

#include <map>
#include <vector>

#include "evictd/port/sockets.hpp"

namespace evictd::fakes {

struct FakeSockets final : port::Sockets {
    Result<std::vector<PodSockets>> read() override {
        ++reads;
        return pods;
    }
    Status refuse(std::span<const CgroupId> wanted, MonotonicTime deadline) override {
        ++asked;
        until = deadline;
        if (answer) refused_now.assign(wanted.begin(), wanted.end());
        return answer;
    }
    [[nodiscard]] std::int64_t refused(CgroupId pod) const override {
        const auto found = refusals.find(pod);
        return found == refusals.end() ? 0 : found->second;
    }

    std::vector<PodSockets> pods;
    std::vector<CgroupId> refused_now;
    std::map<CgroupId, std::int64_t> refusals;
    MonotonicTime until;
    int asked = 0;
    int reads = 0;
    Status answer;
};

}  // namespace evictd::fakes
