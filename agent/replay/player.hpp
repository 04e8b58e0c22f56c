// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Plays a scenario: each step is one look at its node, decided by the live agent's own decide(). Carries out in the
// scenario's world what was decided (who is gone, what was freed), and answers what else the step asks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "evictd/model/decision.hpp"
#include "evictd/model/observation.hpp"
#include "evictd/model/state.hpp"
#include "policy/admission.hpp"
#include "policy/container_gc.hpp"
#include "policy/pod_gc.hpp"
#include "policy/taints.hpp"
#include "replay/node_figures.hpp"
#include "replay/owner_question.hpp"
#include "replay/scenario.hpp"

namespace evictd::replay {

struct QosAnswer {
    PodIndex pod = 0;
    QosClass qos = QosClass::best_effort;
    std::vector<std::pair<std::string, int>> oom_score_adj;  // by container
};

struct GcAnswer {
    std::optional<std::vector<std::string>> images;
    std::optional<policy::ContainerGcResult> containers;
    std::optional<std::vector<std::string>> logs;
    std::optional<std::vector<std::string>> pods;  // objects to be deleted
    std::vector<std::string> remains;              // what is left of pods that nobody knows
    std::string error;
};

struct TaintDeletion {
    std::string pod;
    Duration at;  // scenario time; not later than the step's: carried out in it
};

// What came of a step. Of two looks, one before and one after a reclaim, `decision` holds the first's thresholds,
// conditions and reclaim, and the second's ranking and eviction.
struct StepResult {
    const Step* step = nullptr;
    Observation observation;  // of the last look; Decision::ranking points into it
    Decision decision;
    std::vector<Garbage> removed;  // from the runtime and its logs, in this order
    bool evict_failed = false;
    std::vector<bool> limit_failed;  // by Decision::limit_evictions
    std::vector<std::pair<PodIndex, policy::Admission>> admit;
    std::optional<std::vector<TaintDeletion>> taint_evictions;
    std::vector<PodIndex> scale_down;
    std::vector<QosAnswer> qos;
    std::optional<GcAnswer> gc;
    std::optional<OwnerAnswer> deleted;
    std::vector<PodIndex> deadline_exceeded;
};

class Player {
public:
    // `scenario` outlives this.
    explicit Player(const Scenario& scenario);

    // The next of the scenario's steps; they come in their order.
    [[nodiscard]] StepResult play(const Step& step);

private:
    // Where a pod is, and where it will be at the next step. An evicted one is still there as long as it is stuck.
    enum class Life : std::uint8_t { on_node, evicted, evicted_and_gone, deleted, failed };
    struct Resident {
        PodPtr pod;  // once it has ended: a copy that says so
        Life life = Life::on_node;
        Life next = Life::on_node;
        PodFigures figures;
        std::optional<PodUsage> usage;
    };

    void begin(const Step& step);
    void end(Resident& resident, Life life);
    [[nodiscard]] bool is_on_node(PodIndex pod) const;
    [[nodiscard]] Observation observe(const Step& step) const;
    void find_past_deadline(const Step& step, StepResult& result);
    void look(const Step& step, StepResult& result);
    void look_after_reclaim(const Step& step, StepResult& result);
    ReclaimOutcome remove(const DesiredGarbage& garbage, StepResult& result);
    void carry_out(const Step& step, const Observation& observation, StepResult& result);
    void pass_taints(const Step& step, StepResult& result);
    [[nodiscard]] std::vector<PodIndex> scale_down(const Step& step) const;
    [[nodiscard]] QosAnswer qos(PodIndex index) const;
    [[nodiscard]] GcAnswer gc(const Step& step);
    void collect_pods(const Step& step, GcAnswer& answer);
    [[nodiscard]] policy::PodFate fate_of(const std::string& uid) const;

    const Scenario& scenario_;
    NodeSignals signals_;
    std::vector<Resident> residents_;  // by PodIndex
    std::unordered_map<std::string, PodIndex> by_uid_;
    State state_;
    std::vector<Outcome> outcomes_;             // of the last step
    std::optional<ReclaimOutcome> collected_;   // likewise, of a routine garbage collection
    Runtime runtime_;                           // without what was removed; questions are asked of the scenario's
    std::optional<std::vector<Taint>> taints_;  // none: no step gave any yet
    std::vector<policy::TaintEviction> pending_;
    policy::PodGcState pod_gc_;  // who is in quarantine
};

// Of the monotonic clock. Any time but its zero, which stands for none.
inline constexpr MonotonicTime start_time{std::chrono::hours(1)};

// "namespace/name" of a pod of the scenario.
[[nodiscard]] std::string pod_name(const Scenario& scenario, PodIndex pod);

}  // namespace evictd::replay
