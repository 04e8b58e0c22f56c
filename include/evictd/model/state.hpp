// SPDX-License-Identifier: Apache-2.0
// What decide() remembers from one look to the next. A plain value: copied, compared and replayed, changed by decide()
// alone. Nothing here is a cache, and nobody else reads meaning into it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/decision.hpp"
#include "evictd/model/ids.hpp"
#include "evictd/model/signal.hpp"
#include "evictd/model/units.hpp"

namespace evictd {

// thresholdsFirstObservedAt: when a threshold that is met now was first met without a break.
struct FirstObserved {
    Threshold threshold;
    MonotonicTime at;
};

// A victim whose last process is not known to be gone.
struct InFlight {
    Victim victim;
    CgroupId cgroup;         // the one it was chosen in: another one under the same uid is not the victim
    bool kill_sent = false;  // the kill was decided; before that it is in its grace period
    bool dry_run = false;    // nothing was touched: it will never be gone because of us
    MonotonicTime acted_at;  // the look that decided its last action
};

// A pod whose eviction came to nothing, left alone for a while as long as there is somebody else.
struct PassedOver {
    PodUid pod;
    CgroupId cgroup;
    MonotonicTime until;
};

// A reclaim that was asked for: the eviction it may save goes on where it stopped once it is done.
struct Reclaiming {
    std::vector<NodeReclaim> asked;
    std::vector<MetThreshold> acting;  // as they were met, the one that is handled first in front
};

struct State {
    std::vector<FirstObserved> first_observed;  // its thresholds are the previous look's merged met set
    std::vector<Threshold> thresholds_met;      // those whose grace period was over at the previous look
    std::array<std::optional<MonotonicTime>, condition_count> condition_last_observed;
    std::vector<Condition> conditions;                                     // reported at the previous look
    std::array<std::optional<MonotonicTime>, signal_count> last_readings;  // lastObservations: only their times count
    std::vector<InFlight> in_flight;
    std::vector<PassedOver> passed_over;
    std::optional<Reclaiming> reclaiming;
    std::vector<PodUid> evicted;  // gone because of us, and still listed by some pod source
};

}  // namespace evictd
