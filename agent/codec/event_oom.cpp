// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "event_oom.hpp"

#include "sentence.hpp"

namespace evictd::codec {

EventOom event_oom(const OomKill& kill) {
    EventOom oom{.process = kill.comm,
                 .pid = kill.pid,
                 .oom_score_adj = kill.oom_score_adj,
                 .container = kill.container,
                 .cgroup = kill.container_cgroup,
                 .role = is_outside_pods(kill)                 ? ""
                         : kill.role == OomRole::first_process ? "first_process"
                         : kill.role == OomRole::child         ? "child"
                                                               : "",
                 .group = kill.group,
                 .memcg = kill.memcg,
                 .usage = std::nullopt,
                 .limit = std::nullopt};
    if (kill.memcg) {
        oom.usage = kill.usage;
        oom.limit = kill.limit;
    }
    return oom;
}

}  // namespace evictd::codec
