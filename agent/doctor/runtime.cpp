// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The container runtime: whether it answers, and what it is. Nothing is asked that would change what others hear of it.
#include "cri/runtime.hpp"

#include <algorithm>

#include <unistd.h>

#include "cri/endpoint.hpp"
#include "doctor/doctor.hpp"
#include "evictd/model/text.hpp"

namespace evictd::doctor {

using codec::Finding;
using codec::FindingState;

namespace {

constexpr auto runtime_check = "container runtime";

Finding no_runtime(const Error& error) {
    const bool is_root = ::geteuid() == 0;
    return {.check = runtime_check,
            .state = is_root ? FindingState::missing : FindingState::unknown,
            .chosen = {},
            .detail = error.what + ": " + error.why,
            .remedy = is_root ? error.remedy : "run doctor as root"};
}

// Of a runtime that answered.
Finding finding_of(cri::Runtime& runtime, const RuntimeVersion& version, const std::string& socket) {
    Finding finding{.check = runtime_check,
                    .chosen = excerpt(version.name) + " " + excerpt(version.version) + ", " + socket,
                    .detail = {},
                    .remedy = {}};
    const auto conditions = runtime.conditions();
    if (!conditions) return no_runtime(conditions.error());
    const auto ready = std::find_if(conditions->begin(), conditions->end(),
                                    [](const RuntimeCondition& one) { return one.type == "RuntimeReady"; });
    if (ready == conditions->end() || !ready->status) {
        finding.state = FindingState::fallback;
        finding.detail = "it says that it is not ready";
        if (ready != conditions->end() && !ready->message.empty())
            finding.detail += ": " + excerpt(ready->message, 200);
        finding.remedy = "look at its log";
        return finding;
    }
    finding.detail = "ready";
    return finding;
}

}  // namespace

void examine_runtime(const Config& config, std::vector<Finding>& checks) {
    const auto endpoint = cri::find_endpoint(config.container_runtime_endpoint);
    if (!endpoint) return checks.push_back(no_runtime(endpoint.error()));
    if (!*endpoint) {
        if (!config.agent.disks) return;
        auto none = cri::no_endpoint();
        none.why += ": no garbage is removed";
        return checks.push_back(no_runtime(none));
    }
    const auto runtime = cri::Runtime::make(**endpoint);
    if (!runtime) return checks.push_back(no_runtime(runtime.error()));
    const auto version = (*runtime)->version();
    checks.push_back(version ? finding_of(**runtime, *version, **endpoint) : no_runtime(version.error()));
}

}  // namespace evictd::doctor
