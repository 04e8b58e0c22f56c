// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "pod_gc.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace evictd::policy {

namespace {

// eviction.PodIsEvicted.
bool is_evicted(const Pod& pod) { return pod.phase == PodPhase::failed && pod.status_reason == "Evicted"; }

// byEvictionAndCreationTimestamp. The kubelet's order ends with the name; namespace and uid make this one total.
bool goes_before(const PodPtr& a, const PodPtr& b) {
    const auto key = [](const Pod& pod) {
        return std::tuple(!is_evicted(pod), pod.creation_time, std::tie(pod.name, pod.name_space, pod.uid));
    };
    return key(*a) < key(*b);
}

class Pass {
public:
    Pass(const PodGcPolicy& policy, const PodGcLook& look, const PodGcState& state)
        : policy_(policy), look_(look), before_(state) {
        for (const LookUpAnswer& answer : look.answers) answers_[answer.suspect] = answer.exists;
    }

    PodGcPass run() {
        collect_terminated();
        collect_of_lost_nodes();
        collect_never_scheduled();
        collect_remains();
        return std::move(pass_);
    }

private:
    void collect_terminated() {
        if (policy_.terminated_threshold <= 0) return;
        std::vector<PodPtr> terminated;
        std::copy_if(look_.pods.begin(), look_.pods.end(), std::back_inserter(terminated),
                     [](const PodPtr& pod) { return has_ended(*pod); });
        const auto kept = static_cast<std::size_t>(policy_.terminated_threshold);
        if (terminated.size() <= kept) return;
        std::sort(terminated.begin(), terminated.end(), goes_before);
        const std::string why =
            std::to_string(terminated.size()) + " pods have ended, more than " + std::to_string(kept) + " are kept: ";
        terminated.resize(terminated.size() - kept);
        for (const PodPtr& pod : terminated) {
            remove_pod(*pod, {}, why + (is_evicted(*pod) ? "evicted ones go first" : "the oldest ones go first"));
        }
    }

    void collect_of_lost_nodes() {
        if (!look_.nodes) return;
        for (const PodPtr& pod : look_.pods) {
            if (pod->node_name.empty() || look_.nodes->contains(pod->node_name)) continue;
            if (!is_proved_gone({Suspect::Kind::node, pod->node_name})) continue;
            remove_pod(*pod, node_gone_message, "its node " + pod->node_name + " no longer exists");
        }
    }

    void collect_never_scheduled() {
        for (const PodPtr& pod : look_.pods) {
            if (!pod->deletion_time || !pod->node_name.empty()) continue;
            remove_pod(*pod, never_scheduled_message, "it is being deleted and was never given a node");
        }
    }

    void collect_remains() {
        if (!look_.sources_ready) return;
        std::unordered_set<std::string_view> known;
        for (const PodPtr& pod : look_.pods) known.insert(pod->uid.value);
        for (const Remains& remains : look_.remains) {
            if (known.contains(remains.pod.value)) continue;
            if (!is_proved_gone({Suspect::Kind::pod, remains.pod.value})) continue;
            PodGcAction& action = add(PodGcVerb::remove);
            action.pod = remains.pod;
            action.remains = remains;
            action.why = "no source knows the pod that this " + std::string(name(remains.kind)) + " belongs to";
        }
    }

    // Quarantine, then one look-up, and only its answer counts. Whatever the answer is, a suspect that is still
    // missing at a later look begins anew. Each suspect is judged once in a pass.
    bool is_proved_gone(const Suspect& suspect) {
        const auto [verdict, first] = verdicts_.try_emplace(suspect, false);
        if (first) verdict->second = judge(suspect);
        return verdict->second;
    }

    bool judge(const Suspect& suspect) {
        const auto earlier = before_.quarantined.find(suspect);
        PodGcState::Quarantine& now = pass_.state.quarantined[suspect];
        now = earlier == before_.quarantined.end() ? PodGcState::Quarantine{look_.now} : earlier->second;
        if (now.asked) {
            const auto answer = answers_.find(suspect);
            if (answer == answers_.end()) return false;
            now = {look_.now};
            return answer->second == false;
        }
        if (look_.now - now.since < policy_.quarantine) return false;
        now.asked = true;
        PodGcAction& action = add(PodGcVerb::look_up);
        action.suspect = suspect;
        action.why = suspect.kind == Suspect::Kind::node ? "pods are bound to this node, which is missing"
                                                         : "something remains of this pod, which no source knows";
        return false;
    }

    // markFailedAndDeletePod, once for each pod.
    void remove_pod(const Pod& pod, std::string_view message, const std::string& why) {
        if (!removed_.insert(&pod).second) return;
        if (!has_ended(pod)) {
            PodGcAction& action = add(PodGcVerb::fail_pod, pod, "it must not stay unfinished once it is deleted");
            action.message = message;
        }
        add(PodGcVerb::delete_pod, pod, why);
    }

    PodGcAction& add(PodGcVerb verb) {
        pass_.actions.emplace_back().verb = verb;
        return pass_.actions.back();
    }

    PodGcAction& add(PodGcVerb verb, const Pod& pod, std::string why) {
        PodGcAction& action = add(verb);
        action.pod = pod.uid;
        action.pod_name = pod.full_name();
        action.why = std::move(why);
        return action;
    }

    const PodGcPolicy& policy_;
    const PodGcLook& look_;
    const PodGcState& before_;
    std::map<Suspect, std::optional<bool>> answers_;
    std::map<Suspect, bool> verdicts_;
    std::unordered_set<const Pod*> removed_;
    PodGcPass pass_;
};

}  // namespace

PodGcPass collect_pods(const PodGcPolicy& policy, const PodGcLook& look, const PodGcState& state) {
    return Pass(policy, look, state).run();
}

}  // namespace evictd::policy
