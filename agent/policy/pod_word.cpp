// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "pod_word.hpp"

namespace evictd::policy {

PodWord word_of(const Pod& pod, bool populated) {
    if (!has_ended(pod) || populated) return {PodFate::known, "pod " + pod.full_name() + " is on the node"};
    // podWorkers.ShouldPodContentBeRemoved: it was evicted, or it is being deleted and has ended.
    const bool evicted = pod.phase == PodPhase::failed && pod.status_reason == "Evicted";
    if (evicted || pod.deletion_time) return {PodFate::deleted, "its pod is gone"};
    return {PodFate::terminated, "pod " + pod.full_name() + " has ended and was not deleted"};
}

PodWord word_of_unlisted() {
    return {PodFate::known, "its pod is known to no source, which does not prove that it is gone"};
}

}  // namespace evictd::policy
