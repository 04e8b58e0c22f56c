// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
#include "app/score_lane.hpp"

#include <algorithm>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "app/claims.hpp"
#include "policy/oom_score.hpp"
#include "sys/clock.hpp"

namespace evictd::app {
namespace {

// Of the normal threads it should be the first to run: how much it has to do is up to the pods, so it has no real-time
// priority but to raise one pod, while others take the machine's memory as fast as they can.
constexpr int niceness = -20;

// After the kill path.
int urgency_below(int kill_path) { return kill_path == 0 ? 0 : std::max(1, kill_path - 1); }

reconcile::ScoreOptions options_of(const Config& config) {
    return {.policy = config.agent.oom_score_adj_policy,
            .steering = config.agent.oom_score_adj_steering,
            .dry_run = config.agent.dry_run,
            .memory_path = raised_path(config.agent),
            .wanted =
                [guaranteed = config.guaranteed_oom_score_adj](const Pod& pod, const std::string& container,
                                                               Bytes node_memory) {
                    return policy::oom_score_adj_range(pod, container, node_memory, guaranteed);
                },
            .cpu_time = sys::thread_cpu_time};
}

}  // namespace

SourceRow score_row(OomScoreAdjPolicy policy, bool steering, const reconcile::ScoreFigures& figures) {
    SourceRow row{.hook = "oom_score_adj", .chosen = {}, .fallback = false, .detail = {}};
    row.chosen = policy == OomScoreAdjPolicy::enforce   ? "enforced"
                 : policy == OomScoreAdjPolicy::observe ? "observed"
                                                        : "";
    if (steering) {
        row.chosen += row.chosen.empty() ? "steered" : ", steered";
    }
    const auto add = [&](const std::string& text) { row.detail += (row.detail.empty() ? "" : "; ") + text; };
    if (row.chosen.empty()) {
        add("the configuration says so (evictd.oomScoreAdjPolicy: off)");
    }
    if (figures.pods_refused > 0) {
        row.fallback = true;
        add("cannot be lowered in " + std::to_string(figures.pods_refused) +
            (figures.pods_refused == 1 ? " pod" : " pods") + " without CAP_SYS_RESOURCE");
    }
    if (!figures.steered.empty()) {
        add(figures.steered + " is raised to 1000");
    }
    if (!figures.not_raised.empty()) {
        row.fallback = true;
        add(figures.not_raised);
    }
    return row;
}

ScoreLane::ScoreLane(ScoreLaneNeeds needs, const Config& config)
    : needs_(std::move(needs)),
      policy_(config.agent.oom_score_adj_policy),
      steering_(config.agent.oom_score_adj_steering),
      urgency_(urgency_below(config.agent.realtime_priority)),
      keeper_(needs_.scores, needs_.clock, options_of(config), needs_.tell) {}

Result<std::unique_ptr<ScoreLane>> ScoreLane::make(ScoreLaneNeeds needs, const Config& config) {
    std::unique_ptr<ScoreLane> made(new ScoreLane(std::move(needs), config));
    auto lane = sys::Lane::make("evictd-scores");
    if (!lane) {
        return tl::unexpected(lane.error());
    }
    made->lane_ = std::move(*lane);
    made->post([] {
        // Of this thread alone, which is what Linux means by a process here. Refused: slower, no more.
        (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);
    });
    return made;
}

ScoreLane::~ScoreLane() {
    if (lane_) {
        post([this] { keeper_.release(); });
        lane_->close();
    }
}

// What is dropped is found at the next regular look; the lane counts it.
void ScoreLane::post(std::function<void()> work) { (void)lane_->post(with_aftermath(std::move(work))); }

std::function<void()> ScoreLane::with_aftermath(std::function<void()> work) {
    return [this, kept = std::move(work)] {
        kept();
        after_work();
    };
}

void ScoreLane::after_work() {
    const bool armed = lane_->arm(timer_, keeper_.due(), [this] {
        keeper_.act_on_time();
        after_work();
    });
    if (!armed) {
        return;
    }
    if (auto figures = keeper_.figures(); figures != shown_) {
        shown_ = std::move(figures);
        needs_.show(score_row(policy_, steering_, *shown_));
    }
}

void ScoreLane::look(std::vector<reconcile::KeptPod> pods, Bytes node_memory) {
    post([this, kept = std::move(pods), node_memory]() mutable { keeper_.look(std::move(kept), node_memory); });
}

void ScoreLane::expect(reconcile::KeptPod pod) {
    post([this, kept = std::move(pod)]() mutable { keeper_.expect(std::move(kept)); });
}

void ScoreLane::check(PodUid pod) {
    post([this, kept = std::move(pod)]() mutable { keeper_.check(std::move(kept)); });
}

void ScoreLane::steer(std::optional<PodUid> first) {
    const int urgency = first ? urgency_ : 0;  // putting back has time
    auto work = with_aftermath([this, kept = std::move(first)]() mutable { keeper_.steer(std::move(kept)); });
    (void)lane_->post_urgent(std::move(work), urgency);
}

void ScoreLane::recover(Result<std::vector<port::FoundPod>> found) {
    post([this, kept = std::move(found)] { keeper_.recover(kept); });
}

}  // namespace evictd::app
