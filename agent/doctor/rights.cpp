// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Doctor: what this process may do, and what is lost with each thing it may not.
#include <cstring>
#include <string>

#include <unistd.h>

#include "doctor/doctor.hpp"
#include "kernel/probes.hpp"

namespace evictd::doctor {
namespace {

using codec::Finding;
using codec::FindingState;

Finding user() {
    if (geteuid() == 0) {
        return {.check = "user", .chosen = "root", .detail = {}, .remedy = {}};
    }
    return {
        .check = "user",
        .state = FindingState::missing,
        .chosen = "uid " + std::to_string(geteuid()),
        .detail = "reading the kernel and ending other users' processes needs root; so does most of this examination",
        .remedy = "sudo evictd doctor"};
}

Finding capabilities() {
    std::string missing;
    for (const auto name : kernel::missing_capabilities()) {
        missing += (missing.empty() ? "" : ", ") + std::string(name);
    }
    if (missing.empty()) {
        return {.check = "capabilities", .chosen = "all that evictd uses", .detail = {}, .remedy = {}};
    }
    return {.check = "capabilities",
            .state = FindingState::fallback,
            .chosen = {},
            .detail = "without " + missing + "; each check lists the impact",
            .remedy = {}};
}

Finding tried(std::string check, std::string chosen, int error, std::string lost, std::string remedy) {
    if (error == 0) {
        return {.check = std::move(check), .chosen = std::move(chosen), .detail = {}, .remedy = {}};
    }
    return {.check = std::move(check),
            .state = FindingState::fallback,
            .chosen = {},
            .detail = std::string(std::strerror(error)) + ": " + std::move(lost),
            .remedy = std::move(remedy)};
}

}  // namespace

void examine_rights(const Config& config, std::vector<Finding>& checks) {
    checks.push_back(user());
    checks.push_back(capabilities());
    const int priority = config.agent.realtime_priority;
    if (priority > 0) {
        checks.push_back(tried("real-time", "SCHED_FIFO " + std::to_string(priority), kernel::probe_realtime(priority),
                               "on a busy CPU the kill path waits milliseconds for its turn",
                               "give evictd CAP_SYS_NICE, or a LimitRTPRIO"));
    }
    checks.push_back(tried("memory lock", "mlockall", kernel::probe_memory_lock(),
                           "evictd's own pages may be swapped or dropped just when memory is short",
                           "give evictd CAP_IPC_LOCK, or a larger RLIMIT_MEMLOCK"));
    checks.push_back(tried("oom_score_adj", "can be lowered", kernel::probe_lower_oom_score(),
                           "oom_score_adj of evictd and of pods cannot be lowered",
                           "give evictd CAP_SYS_RESOURCE, or start it with systemd's OOMScoreAdjust="));
}

}  // namespace evictd::doctor
