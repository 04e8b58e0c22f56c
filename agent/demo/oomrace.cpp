// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "demo/oomrace.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "evictd/model/text.hpp"

namespace evictd::demo {
namespace {

// In MiB, as scaled() takes them: 700 MiB to begin with, so 324 are left: five times the 64 MiB above a threshold from
// where the agent gets ready.
constexpr std::int64_t db_holds = 120;
constexpr std::int64_t grower_holds = 80;
constexpr std::int64_t quiet_holds = 400;
constexpr std::int64_t store_holds = 100;
constexpr int grower_processes = 8;
// How far beyond what is left the grower would go: enough to hit the limit, and once.
constexpr std::int64_t overshoot = 12;
// Crossed a moment before the limit is hit. There is no other threshold, so no pod is evicted for a minute.
constexpr std::int64_t soft = 96;
// Requests of 48 % of the node make an oom_score_adj of 520: raising to 1000 then counts for 48 % of the limit, more
// than the 34 % by which the quiet process is bigger than one of the growing ones.
constexpr std::int64_t request_percent = 48;

PodPlan pod(const char* name_space, const char* name, QosClass qos, std::int32_t priority, Bytes request, Bytes holds) {
    return {.name_space = name_space,
            .name = name,
            .uid = {},
            .qos = qos,
            .priority = priority,
            .critical = priority == system_node_critical,
            .request = request,
            .holds = holds};
}

}  // namespace

Plan oomrace_plan(Bytes limit, Bytes node, bool steering) {
    constexpr std::int64_t whole = (1_MiB).value;
    const Bytes share{node.value / 100 * request_percent / whole * whole};
    Plan plan{.scenario = Scenario::oomrace, .limit = limit, .steering = steering};
    plan.pods = {pod("payments", "db", QosClass::guaranteed, 1000, scaled(140, limit), scaled(db_holds, limit)),
                 pod("shop", "cache", QosClass::burstable, 1000, share, scaled(quiet_holds, limit)),
                 pod("batch", "report", QosClass::burstable, 0, share, scaled(grower_holds, limit)),
                 pod("kube-system", "log-store", QosClass::burstable, system_node_critical, scaled(32, limit),
                     scaled(store_holds, limit))};
    for (std::size_t i = 0; i < plan.pods.size(); i++) {
        plan.pods[i].uid = "e71c7d00-0000-4000-8000-00000000001" + std::to_string(i + 1);
    }
    plan.quiet = 1;
    plan.actor = 2;
    plan.pods[plan.actor].processes = grower_processes;
    const Bytes others = scaled(db_holds + quiet_holds + store_holds, limit);
    plan.grows_to = limit - others + scaled(overshoot, limit);
    plan.hard = {};
    plan.soft = scaled(soft, limit);
    plan.soft_grace = std::chrono::seconds(60);
    plan.headline = plan.actor_pod().full_name() + " grows in " + std::to_string(grower_processes) +
                    " processes, and hits the limit while the soft threshold's grace period runs";
    return plan;
}

namespace {

// `wanted` is the pod that the kernel's OOM killer should take.
std::vector<std::string> faults_of(const Plan& plan, const PodPlan& wanted, const Story& story, const Facts& facts) {
    std::vector<std::string> faults;
    if (story.oom_killed().empty() || facts.oom_kills == 0) {
        faults.emplace_back("the kernel's OOM killer killed no process: there was no race to lose");
    }
    for (const auto& event : story.oom_killed()) {
        if (event.pod && event.pod->uid != wanted.uid) {
            faults.push_back("the kernel's OOM killer took a process of " + pod_name(event) + ", not of " +
                             wanted.full_name());
        }
        // By itself it chooses once: it may strike again before the memory of the first is back, when that is gone.
        if (!plan.steering) {
            break;
        }
    }
    const bool raised = std::find(story.raised().begin(), story.raised().end(), wanted.uid) != story.raised().end();
    if (plan.steering && !raised) {
        faults.push_back("evictd did not raise " + wanted.full_name() + " before");
    }
    for (const auto& event : story.evicted()) {
        faults.push_back(pod_name(event) + " was evicted: evictd was faster, and this was no race");
    }
    for (const auto& ended : facts.others_ended) {
        if (plan.steering || !ended.starts_with(wanted.full_name())) {
            faults.push_back("a bystander ended: " + ended);
        }
    }
    return faults;
}

}  // namespace

Verdict judge_oomrace(const Plan& plan, const Story& story, const Facts& facts) {
    const PodPlan& wanted = plan.steering ? plan.actor_pod() : plan.pods[plan.quiet];
    Verdict verdict;
    verdict.faults = faults_of(plan, wanted, story, facts);
    verdict.right = verdict.faults.empty();
    if (!verdict.right) {
        verdict.sentence = "This is not what should have happened.";
        return verdict;
    }
    const auto& quiet = plan.pods[plan.quiet];
    if (plan.steering) {
        verdict.sentence =
            "The kernel's OOM killer was faster, and took what evictd would have taken: " + wanted.full_name() + ".";
        verdict.remarks.push_back("By itself it would have taken " + quiet.full_name() + ", with " +
                                  bytes_text(quiet.holds.value) +
                                  " the biggest process by far: 'evictd demo --scenario oomrace --no-steering' shows "
                                  "it.");
    } else {
        verdict.sentence = "The kernel's OOM killer took " + wanted.full_name() +
                           ", the biggest process: not what evictd would have taken, " + plan.actor_pod().full_name() +
                           ".";
    }
    return verdict;
}

}  // namespace evictd::demo
