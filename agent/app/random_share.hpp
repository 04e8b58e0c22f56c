// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Chance, for those that must not all come back to a server at the same time. Not for secrets.
#pragma once

#include <functional>
#include <random>

namespace evictd::app {

// From 0 to 1; one thread's.
[[nodiscard]] inline std::function<double()> random_share() {
    return [engine = std::minstd_rand(std::random_device{}()),
            share = std::uniform_real_distribution<double>(0, 1)]() mutable { return share(engine); };
}

}  // namespace evictd::app
