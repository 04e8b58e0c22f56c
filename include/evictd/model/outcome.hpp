// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// An action the policy decided, and what came of carrying it out.
#pragma once

#include <cstdint>
#include <string>

#include "evictd/model/ids.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

enum class ActionKind : std::uint8_t {
    terminate,  // SIGTERM to every process of the pod: the start of a grace period
    kill,       // SIGKILL to every process of the pod
};

struct Action {
    ActionKind kind = ActionKind::kill;
    PodUid pod;
    std::string pod_name;  // namespace/name, for people
    CgroupId cgroup{};     // the one it was chosen in: no other is touched. 0: not known (a tape of an older evictd)
    bool forks = false;    // chosen for how many processes it has: more are made while it is killed
};

enum class OutcomeStatus : std::uint8_t {
    delivered,  // every process was signalled
    dry_run,    // would have been
    vanished,   // the pod was gone, or is another one now: nothing was touched
    failed,     // `error` says why
    refused,    // evictd itself runs in the pod: nothing was touched, now or later
};

struct Outcome {
    Action action;
    OutcomeStatus status = OutcomeStatus::delivered;
    MonotonicTime decided_at;    // when decide() had returned
    MonotonicTime delivered_at;  // when every signal had been sent
    int processes = 0;           // signalled
    std::string method;          // "cgroup.kill", "pidfd"
    std::string error;
};

// What followed the first SIGKILL: rounds of it until the kernel said that the pod's cgroup is empty.
struct KillRounds {
    int rounds = 0;
    int frozen = 0;         // of these, with the pod frozen
    bool appeared = false;  // in some round processes were listed that were not before; why is not known
};

}  // namespace evictd
