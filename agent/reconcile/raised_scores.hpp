// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// What processes had before they were raised, and the file that remembers it for the next agent if this one is killed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/types.h>

#include "evictd/model/ids.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/process_scores.hpp"

namespace evictd::reconcile {

struct RaisedProcess {
    pid_t pid = 0;
    std::uint64_t started = 0;  // field 22 of /proc/PID/stat: clock ticks since boot
    int score = 0;              // oom_score_adj before
    friend bool operator==(const RaisedProcess&, const RaisedProcess&) = default;
};

// Found by pid: a pod may have as many as Linux has.
class RaisedProcesses {
public:
    RaisedProcesses() = default;
    RaisedProcesses(std::initializer_list<RaisedProcess> processes);
    void add(const RaisedProcess& process);
    void keep_only(const std::vector<pid_t>& pids);  // highest() stays
    [[nodiscard]] const RaisedProcess* find(pid_t pid) const;
    [[nodiscard]] std::optional<int> highest() const { return highest_; }
    [[nodiscard]] const std::unordered_map<pid_t, RaisedProcess>& all() const { return all_; }
    friend bool operator==(const RaisedProcesses& a, const RaisedProcesses& b) { return a.all_ == b.all_; }

private:
    std::unordered_map<pid_t, RaisedProcess> all_;
    std::optional<int> highest_;  // that any of them had
};

struct RaisedPod {
    CgroupId cgroup;
    RaisedProcesses processes;
    [[nodiscard]] bool knows(const port::ScoredProcess& process) const;
    // What this one had. A process that was forked since inherited what we gave its parent: it gets the highest that
    // any of them had. None: nothing is known.
    [[nodiscard]] std::optional<int> before(const port::ScoredProcess& process) const;
    friend bool operator==(const RaisedPod&, const RaisedPod&) = default;
};
using RaisedPods = std::map<PodUid, RaisedPod>;

// Text, a word and its values a line; of the running boot only, as pids and start times begin anew with the next.
[[nodiscard]] std::string raised_text(const RaisedPods& raised, const std::string& boot);
// Of another boot: empty. Not such a text: `invalid`. A last line that was not written to its end is left out: what it
// was about is raised only afterwards.
[[nodiscard]] Result<RaisedPods> raised_from(const std::string& text, const std::string& boot);

// As write_ledger().
Status remember_raised(const std::string& path, const RaisedPods& raised);
// Adds to a file that remember_raised() wrote, for a cost of what is added and not of all that there is.
Status remember_more(const std::string& path, const PodUid& pod, CgroupId cgroup,
                     std::span<const RaisedProcess> processes);
// No file: empty. A file that cannot be read or understood is an error that names it, and stays.
[[nodiscard]] Result<RaisedPods> remembered_raised(const std::string& path);

}  // namespace evictd::reconcile
