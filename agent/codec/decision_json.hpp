// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// A decision as one JSON line, a function of the decision and what it was taken over, and of nothing else: the same on
// the tape and when it is played again. The keys are those of a scenario's step where it has one.
#pragma once

#include <string>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"

namespace evictd::codec {

[[nodiscard]] std::string decision_line(const Decision& decision, const Observation& observation);

// What the decision has others keep true beside the kill, and decision_line() does not say: whom the kernel's OOM
// killer is steered to, and what the kernel watches.
[[nodiscard]] std::string desired_line(const Decision& decision, const Observation& observation);

// When to look again and why.
[[nodiscard]] std::string next_look_line(const Decision& decision, const Observation& observation);

// "default/web" of a pod of this look; its uid where the look does not have it.
[[nodiscard]] std::string pod_name(const PodUid& uid, const Observation& observation);

}  // namespace evictd::codec
