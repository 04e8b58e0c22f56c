// SPDX-License-Identifier: Apache-2.0
// What processes had before they were raised, and the file that remembers it for the next agent if this one is killed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/process_scores.hpp"

namespace evictd::act {

struct RaisedProcess {
    pid_t pid = 0;
    std::uint64_t started = 0;
    int score = 0;  // before
    friend bool operator==(const RaisedProcess&, const RaisedProcess&) = default;
};

struct RaisedPod {
    CgroupId cgroup;
    std::vector<RaisedProcess> processes;
    [[nodiscard]] bool knows(const port::ScoredProcess& process) const;
    // What this one had. A process that was forked since inherited what we gave its parent: it gets the highest that
    // any of them had. None: nothing is known.
    [[nodiscard]] std::optional<int> before(const port::ScoredProcess& process) const;
    friend bool operator==(const RaisedPod&, const RaisedPod&) = default;
};

// Text, a word and its values a line; of the running boot only, as pids and start times begin anew with the next.
[[nodiscard]] std::string raised_text(const std::map<PodUid, RaisedPod>& raised, const std::string& boot);
// Empty: it is of another boot, or not such a text.
[[nodiscard]] std::map<PodUid, RaisedPod> raised_from(const std::string& text, const std::string& boot);

// As remember_text().
Status remember_raised(const std::string& path, const std::map<PodUid, RaisedPod>& raised);
[[nodiscard]] std::map<PodUid, RaisedPod> remembered_raised(const std::string& path);

}  // namespace evictd::act
