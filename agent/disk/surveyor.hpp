// SPDX-License-Identifier: Apache-2.0
// Copyright The evictd authors
// Keeps the survey: lists pods' directories, has the trees walked by age, cost and growth within a budget of CPU, and
// publishes what is known after each change. Its own thread never touches a disk.
#pragma once

#include <functional>
#include <memory>

#include "disk/pod_trees.hpp"
#include "disk/tree_schedule.hpp"
#include "disk/workers.hpp"
#include "evictd/model/result.hpp"
#include "evictd/port/surveys.hpp"
#include "sys/clock.hpp"

namespace evictd::disk {

class Surveyor final : public port::Surveys {
public:
    struct Options {
        PodDirectories directories{};
        SurveyBudget budget{};
        Workers::Options workers{};
        // A new pod is seen that late. It costs some 10 system calls for each pod.
        Duration list_period = std::chrono::seconds(10);
        // Share of a CPU that a thread may use for a walk that was not requested: a long walk pauses in between.
        double walk_share = 0.25;
        // Of one walk; what it has counted until then is the figure, which is not complete. A pod can make a tree that
        // grows as fast as it is walked. Half of it cuts off trees of some million files on a busy disk, twice as much
        // holds up the others for longer where several pods do so at once. A second walk may take longer.
        Duration longest_walk = std::chrono::minutes(2);
        // In the surveyor's own thread; it may not wait.
        std::function<void(const SurveyPtr&)> on_survey{};
    };

    // `clock` must outlive the program's threads.
    static Result<std::unique_ptr<Surveyor>> make(const sys::Clock& clock, Options options);
    Surveyor(const Surveyor&) = delete;
    Surveyor& operator=(const Surveyor&) = delete;
    // See ~Workers().
    ~Surveyor() override;

    [[nodiscard]] SurveyPtr newest() const override;
    void refresh(const PodUid& pod) override;

private:
    class Core;
    explicit Surveyor(std::unique_ptr<Core> core);

    std::unique_ptr<Core> core_;
    std::unique_ptr<sys::Lane> lane_;  // the last member: its thread uses the core
};

}  // namespace evictd::disk
