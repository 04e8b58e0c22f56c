// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// processPodOnNode, GetMatchingTolerations and getMinTolerationTime, for all pods of the node at once.
#include "taints.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "moments.hpp"

namespace evictd::policy {
namespace {

// time.Duration's longest. A longer toleration does not fit in there, and is for ever.
constexpr std::int64_t longest_seconds = std::chrono::duration_cast<std::chrono::seconds>(Duration::max()).count();

struct Tolerance {
    bool all_taints = true;
    std::optional<Duration> time;  // none: for ever
};

// Where there is no taint nobody has to go, ever. Of the tolerations that match a taint only the first counts, for its
// time too.
Tolerance tolerance_of(const Pod& pod, const std::vector<const Taint*>& taints) {
    Tolerance tolerance;
    for (const Taint* taint : taints) {
        const auto used = std::find_if(pod.tolerations.begin(), pod.tolerations.end(),
                                       [taint](const Toleration& one) { return tolerates(one, *taint); });
        if (used == pod.tolerations.end()) return {false, Duration::zero()};
        if (!used->seconds || *used->seconds > longest_seconds) continue;
        const Duration time = std::chrono::seconds(std::max<std::int64_t>(*used->seconds, 0));
        tolerance.time = std::min(tolerance.time.value_or(Duration::max()), time);
    }
    return tolerance;
}

// What comes of a pod: nothing, or when it goes. `scheduled` is what an earlier pass made of it, if anything.
std::optional<TaintEviction> judge(const Pod& pod, const std::vector<const Taint*>& taints,
                                   const TaintEviction* scheduled, MonotonicTime now) {
    if (scheduled && scheduled->due <= now) return *scheduled;
    const Tolerance tolerance = tolerance_of(pod, taints);
    if (!tolerance.all_taints) return TaintEviction{pod.uid, pod.full_name(), now, now};
    if (!tolerance.time) return std::nullopt;
    // A deadline stands, whatever the tolerations say by now; only one made at this very moment is made anew.
    if (scheduled && scheduled->created_at < now) return *scheduled;
    return TaintEviction{pod.uid, pod.full_name(), scheduled ? scheduled->created_at : now,
                         after(now, *tolerance.time)};
}

bool matches(const Toleration& toleration, const Taint& taint) {
    return (toleration.effect.empty() || toleration.effect == taint.effect) &&
           (toleration.key.empty() || toleration.key == taint.key);
}

// Of a newer server, such as Gt and Lt.
bool is_unknown(const Toleration& toleration, const Taint& taint) {
    const bool is_known = toleration.op.empty() || toleration.op == "Equal" || toleration.op == "Exists";
    return !is_known && matches(toleration, taint);
}

void sort_by_time(std::vector<TaintEviction>& evictions) {
    std::stable_sort(evictions.begin(), evictions.end(), [](const auto& a, const auto& b) { return a.due < b.due; });
}

}  // namespace

bool tolerates(const Toleration& toleration, const Taint& taint) {
    if (!matches(toleration, taint)) return false;
    if (toleration.op == "Exists") return true;
    return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

bool has_to_leave(const Pod& pod, const std::vector<Taint>& taints) {
    return std::any_of(taints.begin(), taints.end(), [&pod](const Taint& taint) {
        if (taint.effect != no_execute) return false;
        const auto used = std::find_if(pod.tolerations.begin(), pod.tolerations.end(), [&taint](const auto& one) {
            return is_unknown(one, taint) || tolerates(one, taint);
        });
        return used == pod.tolerations.end() || (!is_unknown(*used, taint) && used->seconds.has_value());
    });
}

TaintPass pass_taints(const std::vector<Taint>& taints, const std::vector<PodPtr>& pods,
                      const std::vector<TaintEviction>& pending, MonotonicTime now) {
    std::vector<const Taint*> evicting;
    for (const auto& taint : taints) {
        if (taint.effect == no_execute) evicting.push_back(&taint);
    }
    std::unordered_map<PodUid, const TaintEviction*> scheduled;
    for (const auto& eviction : pending) scheduled.emplace(eviction.pod, &eviction);

    TaintPass pass;
    for (const auto& pod : pods) {
        const auto earlier = scheduled.find(pod->uid);
        auto eviction = judge(*pod, evicting, earlier == scheduled.end() ? nullptr : earlier->second, now);
        if (eviction) (eviction->due <= now ? pass.due : pass.pending).push_back(std::move(*eviction));
    }
    sort_by_time(pass.due);
    sort_by_time(pass.pending);
    return pass;
}

}  // namespace evictd::policy
