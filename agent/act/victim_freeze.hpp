// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A victim's freezer for a moment: what it runs cannot fork or move while it is signalled. On cgroup v1 a frozen
// process does not die, so that a freeze is written down first and undone on every way out.
#pragma once

#include <optional>
#include <string>

#include "evictd/port/cgroups.hpp"

namespace evictd::act {

class VictimFreeze {
public:
    // `rungs_path` as for Reaper::make(), and outlives this. If it cannot be written down, nothing is frozen.
    VictimFreeze(const port::PodCgroup& victim, const std::optional<std::string>& rungs_path);
    VictimFreeze(const VictimFreeze&) = delete;
    VictimFreeze& operator=(const VictimFreeze&) = delete;
    ~VictimFreeze();

    // Why it is not frozen; empty: it is.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

private:
    const port::PodCgroup& victim_;
    const std::optional<std::string>& rungs_path_;
    bool begun_ = false;
    std::string trouble_;
};

}  // namespace evictd::act
