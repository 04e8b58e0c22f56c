// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What the log says of each removal of garbage. An orphan that cannot go is tried again for as long as it is there, and
// what the log says of it is said once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "evictd/model/garbage.hpp"

namespace evictd::app {

class RemovalLog {
public:
    // Beyond that many it forgets, and says again.
    static constexpr std::size_t most_kept = 4096;

    // None: it was said of this one, and nothing has changed.
    [[nodiscard]] std::optional<std::string> line(const Garbage& one, const GarbageOutcome& outcome);

private:
    std::map<std::pair<GarbageKind, std::string>, std::string> said_;  // by kind and ID
};

}  // namespace evictd::app
