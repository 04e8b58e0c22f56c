// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "removal_pass.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "ended_pods.hpp"
#include "moments.hpp"
#include "pod_gc.hpp"
#include "qos.hpp"
#include "removals.hpp"
#include "shutdown.hpp"
#include "taints.hpp"

namespace evictd::policy {
namespace {

using namespace std::chrono_literals;

// A server sends a bookmark about once a minute.
constexpr Duration newest_word = 90s;
// Sums with it do not overflow.
constexpr auto longest_grace = std::chrono::hours(24 * 365);
constexpr Duration rejection_holds = 10min;

class RemovalPass {
public:
    RemovalPass(const EvictionConfig& config, const Observation& observation, const ListedPods& listed, State& state)
        : config_(config),
          observation_(observation),
          listed_(listed),
          state_(state),
          now_(observation.at),
          open_(count_open(state)) {
        for (const auto& removal : state.removals) {
            if (now_ < holds_kind_until(removal)) held_.emplace(removal.kind, removal.desired.name_space);
        }
    }

    void run() {
        const bool may_begin =
            config_.pod_statuses && observation_.pods_current && shutdown_of(observation_) == ShutdownWord::none;
        // While the watch is interrupted a taint may go and come back. A server that is only silent would have told.
        if (!config_.taint_eviction || !(observation_.node && observation_.node->current))
            state_.taint_evictions.clear();
        if (!may_begin) return cancel_schedules();
        if (config_.taint_eviction && is_heard(observation_)) evict_by_taints();
        if (config_.active_deadlines) end_overdue();
        if (config_.kept_terminated_pods > 0) collect_ended();
    }

private:
    using RemovalsByPod = std::unordered_map<std::string_view, const Removal*>;

    // Tolerations are counted from when evictd first saw the taint: of one that it saw go, anew.
    void cancel_schedules() {
        std::erase_if(state_.taint_evictions, [&](const TaintEviction& eviction) {
            const ObservedPod* observed = listed_.find(eviction.pod);
            return observed == nullptr || !has_to_leave(*observed->pod, observation_.node->taints);
        });
    }

    // Static, mirror and critical pods stay; the deletion of one that is being deleted is under way.
    [[nodiscard]] bool may_go(const Pod& pod, const RemovalsByPod& removals) const {
        if (is_critical_pod(pod) || pod.deletion_time || is_ending(state_, pod.uid)) return false;
        const auto removal = removals.find(pod.uid.value);
        return removal == removals.end() || is_done(*removal->second, pod);
    }

    // One that was failed for its deadline is an ended pod like any other, once the kubelet has had the time to end it.
    [[nodiscard]] bool is_done(const Removal& removal, const Pod& pod) const {
        const auto grace = std::min<std::chrono::seconds>(pod.termination_grace_period, longest_grace);
        return !is_open(removal) && removal.kind == RemovalKind::deadline && has_ended(pod) &&
               now_ >= after(removal.desired.decided_at, grace + removal_goes_within);
    }

    [[nodiscard]] std::vector<PodPtr> pods(const auto& which) const {
        RemovalsByPod removals;
        for (const auto& removal : state_.removals) removals.emplace(removal.desired.pod.value, &removal);
        std::vector<PodPtr> all;
        for (const auto& observed : observation_.pods) {
            const bool is_there = observed.pod && !observed.departed;
            if (is_there && which(observed) && may_go(*observed.pod, removals)) all.push_back(observed.pod);
        }
        return all;
    }

    // evictd does not run in it, which only its cgroup can tell: the end of evictd's own pod is the cluster's to
    // decide.
    [[nodiscard]] static bool is_running_other(const ObservedPod& observed) {
        return !has_ended(*observed.pod) && observed.cgroup != CgroupId{} && !observed.holds_us;
    }

    // Its deletion is immediate in the API server: one that still runs would run beside its successor. Of pods that
    // only the kubelet still has, the object is deleted already.
    [[nodiscard]] bool is_remnant(const ObservedPod& observed) const {
        const bool is_seen = !observation_.usage_unknown && !observation_.pods_unlisted;
        return has_ended(*observed.pod) && is_seen && !observed.populated && observed.pod->source == api_server_source;
    }

    // Due ones that would be too many for now stay scheduled.
    void evict_by_taints() {
        const auto candidates = pods(is_running_other);
        TaintPass pass = pass_taints(observation_.node->taints, candidates, state_.taint_evictions, now_);
        state_.taint_evictions = std::move(pass.pending);
        for (auto& due : pass.due) {
            const ObservedPod* observed = listed_.find(due.pod);
            // The controller deletes what fell due while it was away, though the taint is gone. The pod runs, and
            // nothing is wrong with the node any more.
            if (observed == nullptr || !has_to_leave(*observed->pod, observation_.node->taints)) continue;
            if (!begin(RemovalKind::taint, *observed->pod, {.end = PodEnd::deleted},
                       "it does not tolerate a NoExecute taint of the node, or no longer")) {
                state_.taint_evictions.push_back(std::move(due));
            }
        }
    }

    // One without a process has ended, though the kubelet has not said so yet: it may have succeeded.
    void end_overdue() {
        const auto is_active = [](const ObservedPod& one) { return is_running_other(one) && one.populated; };
        for (const auto& pod : pods(is_active)) {
            if (!past_active_deadline(*pod, observation_.wall)) continue;
            (void)begin(RemovalKind::deadline, *pod,
                        {.end = PodEnd::failed,
                         .reason = std::string(deadline_reason),
                         .message = std::string(deadline_message)},
                        "its activeDeadlineSeconds are over");
        }
    }

    void collect_ended() {
        PodGcLook look;
        look.now = now_;
        look.pods = pods([this](const ObservedPod& observed) { return is_remnant(observed); });
        // The order of thousands takes milliseconds: not made where none could begin.
        const auto is_free = [this](const PodPtr& pod) { return !is_held(RemovalKind::garbage, *pod); };
        if (open_ >= most_at_a_time || std::none_of(look.pods.begin(), look.pods.end(), is_free)) return;
        look.sources_ready = false;
        const PodGcPolicy policy{.terminated_threshold = config_.kept_terminated_pods};
        for (const auto& action : collect_pods(policy, look, {}).actions) {
            const ObservedPod* observed = action.verb == PodGcVerb::delete_pod ? listed_.find(action.pod) : nullptr;
            if (observed == nullptr) continue;
            (void)begin(RemovalKind::garbage, *observed->pod, {.end = PodEnd::deleted, .grace_period = 0s}, action.why);
        }
    }

    [[nodiscard]] bool is_held(RemovalKind kind, const Pod& pod) const {
        return held_.contains({kind, pod.name_space});
    }

    // False: not yet.
    bool begin(RemovalKind kind, const Pod& pod, DesiredPodStatus desired, std::string why) {
        if (open_ >= most_at_a_time || is_held(kind, pod)) return false;
        desired.pod = pod.uid;
        desired.name_space = pod.name_space;
        desired.name = pod.name;
        desired.generation = pod.generation;
        desired.decided_at = now_;
        desired.can_wait = true;
        desired.attempt = take_over_removal(pod.uid, state_) + 1;
        for (const auto& ended : state_.ended) {
            if (ended.desired.pod == pod.uid) desired.attempt = std::max(desired.attempt, ended.desired.attempt + 1);
        }
        state_.removals.push_back(
            {.kind = kind, .desired = std::move(desired), .why = std::move(why), .begun_at = now_, .again_at = {}});
        ++open_;
        return true;
    }

    const EvictionConfig& config_;
    const Observation& observation_;
    const ListedPods& listed_;
    State& state_;
    MonotonicTime now_;
    std::size_t open_;
    std::set<std::pair<RemovalKind, std::string>> held_;
};

bool is_before(const ObservedPod* one, const ObservedPod* other) { return one->pod->uid < other->pod->uid; }

}  // namespace

ListedPods::ListedPods(const Observation& observation) {
    pods_.reserve(observation.pods.size());
    for (const auto& one : observation.pods) {
        if (one.pod && !one.departed) pods_.push_back(&one);
    }
    // The agent's are in order already, a scenario's may be not.
    if (!std::is_sorted(pods_.begin(), pods_.end(), is_before)) std::sort(pods_.begin(), pods_.end(), is_before);
}

const ObservedPod* ListedPods::find(const PodUid& uid) const {
    const auto found = std::lower_bound(pods_.begin(), pods_.end(), uid,
                                        [](const ObservedPod* one, const PodUid& of) { return one->pod->uid < of; });
    return found != pods_.end() && (*found)->pod->uid == uid ? *found : nullptr;
}

bool is_open(const Removal& removal) {
    return removal.answered != removal.desired.attempt && removal.again_at == MonotonicTime{};
}

std::size_t count_open(const State& state) {
    return static_cast<std::size_t>(std::count_if(state.removals.begin(), state.removals.end(), is_open));
}

Duration rest_after_rejection(std::int32_t attempt) { return attempt < quick_attempts ? rejection_holds : slow_period; }

MonotonicTime holds_kind_until(const Removal& removal) {
    const bool is_rejected = removal.answered == removal.desired.attempt && !removal.error.empty();
    if (!is_rejected || removal.again_at == MonotonicTime{}) return {};
    return removal.again_at - rest_after_rejection(removal.desired.attempt) + rejection_holds;
}

bool is_heard(const Observation& observation) {
    const auto& node = observation.node;
    return node && node->current && observation.at - node->heard_at <= newest_word;
}

void begin_removals(const EvictionConfig& config, const Observation& observation, const ListedPods& listed,
                    State& state) {
    RemovalPass(config, observation, listed, state).run();
}

}  // namespace evictd::policy
