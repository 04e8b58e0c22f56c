// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// The score keeper in a thread of its own: the kill path only posts to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "evictd/model/config.hpp"
#include "evictd/model/signal_source.hpp"
#include "reconcile/score_keeper.hpp"
#include "sys/lane.hpp"

namespace evictd::app {

struct ScoreLaneNeeds {
    port::ProcessScores& scores;
    const sys::Clock& clock;
    std::function<void(AgentNotice)> tell;  // any thread
    std::function<void(SourceRow)> show;    // any thread; how it goes, when that changed
};

class ScoreLane final : public reconcile::ScoreOrders {
public:
    // What `needs` refers to must outlive it.
    static Result<std::unique_ptr<ScoreLane>> make(ScoreLaneNeeds needs, const Config& config);
    ScoreLane(const ScoreLane&) = delete;
    ScoreLane& operator=(const ScoreLane&) = delete;
    ~ScoreLane() override;  // puts back whatever is raised

    void look(std::vector<reconcile::KeptPod> pods, Bytes node_memory) override;
    void expect(reconcile::KeptPod pod) override;
    void check(PodUid pod) override;
    void steer(std::optional<PodUid> first) override;
    // What an agent that was killed left raised in these pods.
    void recover(Result<std::vector<port::FoundPod>> found);

private:
    ScoreLane(ScoreLaneNeeds needs, const Config& config);
    void post(std::function<void()> work);
    std::function<void()> with_aftermath(std::function<void()> work);
    void after_work();

    ScoreLaneNeeds needs_;
    OomScoreAdjPolicy policy_;
    bool steering_;
    int urgency_;                    // SCHED_FIFO priority; 0: none
    reconcile::ScoreKeeper keeper_;  // the lane's alone
    std::optional<reconcile::ScoreFigures> shown_;
    sys::Timer timer_;
    std::unique_ptr<sys::Lane> lane_;  // last: its thread must be gone first
};

// For status, before anything was looked at too.
[[nodiscard]] SourceRow score_row(OomScoreAdjPolicy policy, bool steering, const reconcile::ScoreFigures& figures);

}  // namespace evictd::app
