// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Was it the right pod, and only it? Spoken over facts, not over what the agent says of itself alone. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demo/scenario.hpp"
#include "demo/story.hpp"

namespace evictd::demo {

// What was looked at apart from the agent's events.
struct Facts {
    bool actor_gone = false;
    std::string actor_end;                  // "killed by signal 9"
    std::vector<std::string> others_ended;  // pods that should live, and how they ended
    std::uint64_t oom_kills = 0;            // the kernel's own counters
    bool actor_refused = false;             // sockets
    bool actor_opened_again = false;
    bool neighbour_refused = false;
    int opened_meanwhile = 0;  // by the neighbour while the actor was refused, tens of them
    Bytes most_used;           // by all pods together, as far as it was looked at
};

struct Verdict {
    bool right = false;
    std::vector<std::string> faults;  // why not
    std::string sentence;             // in plain words
    std::vector<std::string> remarks;
};

[[nodiscard]] Verdict judge(const Plan& plan, const Story& story, const Facts& facts);

}  // namespace evictd::demo
